"""A program that waits for a person, without any agent framework.

Run it: pip install chrysalid; python plain.py
"""

import chrysalid


def look_up(customer: str) -> dict[str, object]:
    """Finds what a customer paid last."""
    return {"customer": customer, "amount": 30}


def refund(customer: str, amount: int) -> str:
    """Pays money back."""
    print(f"-- {amount} go back to {customer}")
    return f"refunded {amount}"


TOOLS = [look_up, chrysalid.Tool(refund, approval="always")]

PROGRAM = """
    const last = await tools.look_up({ customer: "ann" });
    const done = await tools.refund({ customer: last.customer, amount: last.amount });
    `ann: ${done}`
"""

# Any 32 bytes; what is sealed with them can be opened with them, anywhere.
key = chrysalid.Key.from_bytes(b"an example's key is no secret...")

engine = chrysalid.Engine(key=key)
session = engine.session(TOOLS)
outcome = session.run(PROGRAM)
[call] = outcome.pending
print(f"{outcome.status}: {call.name} {call.arguments}")

# The whole session as bytes: keep them wherever you like, for as long as the person takes.
image = session.snapshot()
del session, engine

# Later, in another process:
session = chrysalid.Engine(key=key).restore(image, TOOLS)
session.approve("1.2", by="ben")
outcome = session.resume()
print(f"{outcome.status}: {outcome.value}")
