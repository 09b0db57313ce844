"""Calls that wait for a person: what is shown, what may be decided, and what then happens."""

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import chrysalid
from chrysalid import Limits, Policy, Tool
from conftest import KEY
from stepping import step, step_to_calls


class Bank:
    """A host with effects that are counted."""

    def __init__(self) -> None:
        self.paid: list[int] = []

    def pay(self, amount: int) -> dict[str, Any]:
        """Pays."""
        self.paid.append(amount)
        return {"ok": True, "amount": amount}

    def refund(self, amount: int) -> str:
        self.paid.append(-amount)
        return "refunded"

    def tools(self, **options: Any) -> list[Tool]:
        return [Tool(self.pay, approval="always", **options), Tool(self.refund)]


@pytest.fixture
def bank() -> Bank:
    return Bank()


def test_approve(engine: chrysalid.Engine, bank: Bank) -> None:
    session = engine.session(bank.tools())
    outcome = session.run("const { amount } = await tools.pay({ amount: 3 });\namount + 1")
    assert (outcome.status, outcome.value, bank.paid) == ("paused", chrysalid.UNDEFINED, [])
    (pending,) = outcome.pending
    assert (pending.id, pending.name, pending.path) == ("1.1", "pay", "tools.pay")
    assert pending.arguments == {"amount": 3}
    assert pending.reasons == ["asks each time"]
    assert (pending.status, pending.decided, pending.line, pending.column) == ("waiting", False, 1, pending.column)
    assert pending.allowed == ["approve", "edit", "reject", "respond"]
    assert (pending.roles, pending.expires_at) == ([], None)
    assert len(pending.token) == len(pending.digest) == 64
    assert abs(pending.requested_at - time.time()) < 60
    session.approve(pending.id, token=pending.token, by="ann")
    assert session.pending[0].decided
    assert bank.paid == []
    outcome = session.resume()
    assert (outcome.status, outcome.value, bank.paid) == ("done", 4, [3])
    (record,) = outcome.calls
    assert (record.status, record.decision, record.decided_by) == ("completed", "approve", "ann")


def test_reject(engine: chrysalid.Engine, bank: Bank) -> None:
    session = engine.session(bank.tools())
    code = "try { await tools.pay({ amount: 3 }) } catch (error) { [error.name, error.message] }"
    session.run(code)
    session.reject("1.1", "too much", by="ann")
    name, message = session.resume().value
    assert name == "ToolRejected"
    assert "too much" in message
    session.reject(session.run(code).pending[0].id)
    assert session.resume().value[0] == "ToolRejected"
    assert bank.paid == []


def test_respond(engine: chrysalid.Engine, bank: Bank) -> None:
    session = engine.session(bank.tools())
    session.run("const answer = await tools.pay({ amount: 3 }); [answer.note, answer.at instanceof Date]")
    session.respond("1.1", {"note": "by hand", "at": datetime(2020, 1, 1, tzinfo=UTC)})
    assert session.resume().value == ["by hand", True]
    assert bank.paid == []


def test_edit(engine: chrysalid.Engine, bank: Bank) -> None:
    session = engine.session(bank.tools())
    session.run("(await tools.pay({ amount: 300 })).amount")
    with pytest.raises(chrysalid.InvalidArguments):
        session.edit("1.1", {"amount": "a lot"})
    session.edit("1.1", {"amount": 30})
    outcome = session.resume()
    assert (outcome.value, bank.paid) == (30, [30])
    assert outcome.calls[0].edited == {"amount": 30}
    (pending,) = session.run("await tools.pay({ amount: 5 })").pending
    session.edit(pending.id, {"amount": 5}, name="refund")
    outcome = session.resume()
    assert (outcome.value, bank.paid) == ("refunded", [30, -5])
    assert (outcome.calls[-1].name, outcome.calls[-1].called_as) == ("refund", "pay")


def test_edited_arguments_cross_as_values(engine: chrysalid.Engine) -> None:
    seen: list[Any] = []

    def take(v: Any) -> None:
        seen.append(v)

    session = engine.session([Tool(take, approval="always")])
    session.run("await tools.take({ v: 1 })")
    session.edit("1.1", {"v": {"m": chrysalid.Map([(1, b"x")]), "big": 2**70}})
    session.resume()
    assert seen == [{"m": chrysalid.Map([(1, b"x")]), "big": 2**70}]
    (pending,) = session.run("await tools.take({ v: 1 })").pending
    with pytest.raises(TypeError, match=r"arguments\.v: a value of type object does not cross"):
        session.edit(pending.id, {"v": object()})
    with pytest.raises(TypeError, match=r"value: a value of type object does not cross"):
        session.respond(pending.id, object())


def test_each_is_decided_once(engine: chrysalid.Engine, bank: Bank) -> None:
    session = engine.session(bank.tools())
    session.run("await tools.pay({ amount: 1 })")
    session.approve("1.1")
    with pytest.raises(chrysalid.AlreadyDecided):
        session.approve("1.1")
    with pytest.raises(chrysalid.AlreadyDecided):
        session.reject("1.1")
    with pytest.raises(chrysalid.AlreadyDecided):
        session.respond("1.1", 1)
    session.resume()
    with pytest.raises(chrysalid.ChrysalidError):
        session.approve("1.1")
    assert bank.paid == [1]


def test_tokens(engine: chrysalid.Engine, bank: Bank) -> None:
    session = engine.session(bank.tools())
    outcome = session.run("await Promise.all([tools.pay({ amount: 1 }), tools.pay({ amount: 2 })])")
    first, second = outcome.pending
    assert first.token != second.token
    with pytest.raises(chrysalid.UnknownCall, match=r"no call 1\.1 with what was shown"):
        session.approve(first.id, token=second.token)
    for wrong in ("", "00", "zz" * 32, "é" * 32):
        with pytest.raises(ValueError, match="is not 64 hexadecimal characters"):
            session.approve(first.id, token=wrong)
    session.approve(first.id, token=first.token)
    session.approve(second.id, token=second.token)
    assert session.resume().status == "done"
    assert sorted(bank.paid) == [1, 2]


def test_any_part_may_be_decided(engine: chrysalid.Engine, bank: Bank) -> None:
    session = engine.session(bank.tools())
    code = "(await Promise.all([1, 2, 3].map(async amount => (await tools.pay({ amount })).amount))).join()"
    assert [pending.id for pending in session.run(code).pending] == ["1.1", "1.2", "1.3"]
    session.approve("1.2")
    outcome = session.resume()
    assert (outcome.status, bank.paid) == ("paused", [2])
    assert [pending.id for pending in outcome.pending] == ["1.1", "1.3"]
    session.approve("1.3")
    session.approve("1.1")
    outcome = session.resume()
    assert (outcome.value, sorted(bank.paid)) == ("1,2,3", [1, 2, 3])


def test_two_in_a_row(engine: chrysalid.Engine, bank: Bank) -> None:
    session = engine.session(bank.tools())
    session.run("await tools.pay({ amount: 1 }); await tools.pay({ amount: 2 }); 'both'")
    session.approve("1.1")
    assert [pending.arguments for pending in session.resume().pending] == [{"amount": 2}]
    session.approve("1.2")
    assert session.resume().value == "both"
    assert bank.paid == [1, 2]


def test_roles(engine: chrysalid.Engine, bank: Bank) -> None:
    session = engine.session(bank.tools(approval_role=["lead", "finance"]))
    (pending,) = session.run("await tools.pay({ amount: 1 })").pending
    assert pending.roles == ["finance", "lead"]
    for roles in ((), "lead", ["finance"]):
        with pytest.raises(chrysalid.DecisionNotAllowed):
            session.approve(pending.id, roles=roles)
    session.approve(pending.id, roles=["finance", "lead", "other"])
    assert session.resume().status == "done"


def test_allowed_decisions(engine: chrysalid.Engine, bank: Bank) -> None:
    session = engine.session(bank.tools(approval_decisions=["approve", "reject"]))
    (pending,) = session.run("await tools.pay({ amount: 1 })").pending
    assert pending.allowed == ["approve", "reject"]
    with pytest.raises(chrysalid.DecisionNotAllowed):
        session.edit(pending.id, {"amount": 2})
    with pytest.raises(chrysalid.DecisionNotAllowed):
        session.respond(pending.id, 1)
    session.reject(pending.id)


def test_expiry(engine: chrysalid.Engine, bank: Bank) -> None:
    session = engine.session(bank.tools(approval_expiry=0.0))
    outcome = session.run("try { await tools.pay({ amount: 1 }) } catch (error) { error.name }")
    if outcome.status == "paused":
        assert outcome.pending[0].expires_at is not None
        with pytest.raises(chrysalid.ApprovalExpired):
            session.approve(outcome.pending[0].id)
        outcome = session.resume()
    assert outcome.status == "done"
    assert "Expired" in outcome.value or "Rejected" in outcome.value
    assert bank.paid == []
    session = engine.session(bank.tools(approval_expiry=3600))
    pending = session.run("await tools.pay({ amount: 1 })").pending[0]
    assert pending.expires_at == pytest.approx(pending.requested_at + 3600, abs=1)
    session.approve(pending.id)
    assert session.resume().status == "done"


def test_ask_when(engine: chrysalid.Engine, bank: Bank) -> None:
    session = engine.session([Tool(bank.pay, ask_when=lambda argument: argument["amount"] > 10)])
    assert session.run("(await tools.pay({ amount: 10 })).amount").value == 10
    outcome = session.run("await tools.pay({ amount: 11 })")
    assert outcome.status == "paused"
    session.reject(outcome.pending[0].id)
    session.resume()
    assert bank.paid == [10]


def test_a_predicate_that_raises_asks(
    engine: chrysalid.Engine, bank: Bank, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    shown: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", shown.append)

    def ask(argument: Any) -> bool:
        raise ValueError("hm")

    session = engine.session([Tool(bank.pay, ask_when=ask)])
    assert session.run("await tools.pay({ amount: 1 })").status == "paused"
    assert [str(each.exc_value) for each in shown] == ["hm"]


def test_the_whole_program(engine: chrysalid.Engine, bank: Bank) -> None:
    session = engine.session([bank.refund], approve_program=True)
    outcome = session.run("await tools.refund({ amount: 1 })")
    assert outcome.status == "paused"
    assert bank.paid == []
    (pending,) = outcome.pending
    session.approve(pending.id)
    assert session.resume().value == "refunded"
    outcome = session.run("await tools.refund({ amount: 1 })")
    session.reject(outcome.pending[0].id, "no")
    outcome = session.resume()
    assert outcome.error is not None
    assert outcome.error.kind == "rejected"


RULES = """
rule_of_two = "strict"
expires = "7d"

[[rules]]
tools = "send"
when = { text = "spam" }
decision = "deny"
reason = "no spam"
deny = [{ text = "spam" }]
"""


def test_policy(engine: chrysalid.Engine) -> None:
    with pytest.raises(ValueError, match="line"):
        Policy.parse("nonsense = [")
    with pytest.raises(ValueError, match='rule of two is "on", "strict" or "off", not "maybe"'):
        Policy.rule_of_two("maybe")  # type: ignore[arg-type]
    with pytest.raises(OSError, match="cannot read policy"):
        Policy.load("/nowhere/policy.toml")
    policy = Policy.rule_of_two("off")
    assert "Policy(0 rules" in repr(policy)
    assert isinstance(policy.version, str)


def rule_of_two_tools(seen: list[str]) -> list[Tool]:
    def read() -> str:
        seen.append("read")
        return "secret"

    def browse() -> str:
        seen.append("browse")
        return "page"

    def send(text: str) -> None:
        seen.append("send")

    return [Tool(read, effects=["private"]), Tool(browse, effects=["untrusted"]), Tool(send, effects=["acts"])]


def test_rule_of_two() -> None:
    seen: list[str] = []
    code = "await tools.read({}); await tools.browse({}); await tools.send({ text: 'x' }); 'sent'"
    session = chrysalid.Engine(key=KEY).session(rule_of_two_tools(seen))
    outcome = session.run(code)
    assert (outcome.status, seen) == ("paused", ["read", "browse"])
    assert session.taint == ["private", "untrusted"]
    assert [effect for effect, _ in session.met] == ["private", "untrusted"]
    assert outcome.pending[0].effects == ["acts"]
    session.approve("1.3")
    assert session.resume().value == "sent"
    seen.clear()
    session = chrysalid.Engine(key=KEY, policy=Policy.rule_of_two("off")).session(rule_of_two_tools(seen))
    assert session.run(code).value == "sent"


def test_a_policy_file(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(RULES)
    policy = Policy.load(file)
    assert policy.version == Policy.parse(RULES).version
    seen: list[str] = []
    session = chrysalid.Engine(key=KEY, policy=policy).session(rule_of_two_tools(seen))
    error = session.run("await tools.send({ text: 'spam' })").error
    assert error is not None
    assert error.name == "Denied"
    assert "no spam" in error.message
    assert session.run("await tools.send({ text: 'fine' }); 'sent'").value == "sent"
    assert [call.status for call in session.calls] == ["denied", "completed"]
    # It is strict: the third effect waits, whichever it is.
    outcome = session.run("await tools.read({}); await tools.browse({})")
    (pending,) = outcome.pending
    assert (pending.name, pending.policy) == ("browse", policy.version)
    assert pending.expires_at == pytest.approx(pending.requested_at + 7 * 86400, abs=1)
    assert seen == ["send", "read"]
    file.write_text("[[rules]]\ntools = 'send'\ndecision = 'maybe'")
    with pytest.raises(ValueError, match=r"policy\.toml: line 3"):
        Policy.load(file)


def test_effects_that_the_host_knows(engine: chrysalid.Engine) -> None:
    seen: list[str] = []
    session = engine.session(rule_of_two_tools(seen))
    session.meet("private", "the question")
    session.meet(["untrusted"], "an attachment")
    assert sorted(session.taint) == ["private", "untrusted"]
    assert ("private", "the question") in session.met
    assert session.run("await tools.send({ text: 'x' })").status == "paused"
    with pytest.raises(ValueError, match='effect "secret" is none of'):
        session.meet(["secret"], "x")  # type: ignore[list-item]


def test_grants(engine: chrysalid.Engine, bank: Bank) -> None:
    session = engine.session(bank.tools())
    number = session.grant('tools = "pay", count = 2, lasts = "1h", scope = "session"', by="ann")
    assert isinstance(number, int)
    assert session.run("await tools.pay({ amount: 1 }); await tools.pay({ amount: 2 }); 'two'").value == "two"
    assert session.run("await tools.pay({ amount: 3 })").status == "paused"
    assert bank.paid == [1, 2]
    with pytest.raises(ValueError, match=r"."):
        session.grant('tools = "pay", count = "some"')


def test_budget(engine: chrysalid.Engine, bank: Bank) -> None:
    session = engine.session([bank.refund], limits=Limits(session_calls=1))
    assert session.run("await tools.refund({ amount: 1 })").status == "done"
    error = session.run("await tools.refund({ amount: 2 })").error
    assert error is not None
    assert error.name == "CallBudgetExceeded"
    session.raise_budget(calls=1, by="ann")
    assert session.run("await tools.refund({ amount: 3 })").status == "done"
    session = engine.session([bank.refund], limits=Limits(session_calls=1, when_spent="ask"))
    session.run("await tools.refund({ amount: 1 })")
    outcome = session.run("await tools.refund({ amount: 4 })")
    assert outcome.status == "paused"
    session.approve(outcome.pending[0].id)
    assert session.resume().status == "done"
    assert bank.paid == [-1, -3, -1, -4]


def test_a_result_as_a_handle(engine: chrysalid.Engine) -> None:
    taken: list[Any] = []

    def read() -> dict[str, str]:
        return {"secret": "s3cret"}

    def send(what: Any) -> None:
        taken.append(what)

    session = engine.session([Tool(read, deliver="handle", effects=["private"]), Tool(send, effects=["acts"])])
    outcome = session.run("const h = await tools.read({}); h")
    handle = outcome.value
    assert isinstance(handle, chrysalid.Handle)
    assert (handle.id, handle.name) == (1, "read")
    assert session.handle_value(handle) == {"secret": "s3cret"}
    assert not outcome.is_data
    assert handle == session.run("h").value
    assert hash(handle) == hash(session.run("h").value)
    session.run("await tools.send({ what: h })")
    if session.pending:
        session.approve(session.pending[0].id)
        session.resume()
    assert taken == [{"secret": "s3cret"}]
    assert engine.session().handle_value(handle) is None


def test_suspend(engine: chrysalid.Engine, bank: Bank) -> None:
    session = engine.session(bank.tools())
    session.start("const a = await tools.refund({ amount: 1 }); a + '!'")
    (call,) = step_to_calls(session, 1)
    session.suspend(call.id)
    pause = step(session)
    assert pause.kind == "paused"
    assert pause.outcome is not None
    assert [(call.id, call.status) for call in pause.outcome.pending] == [("1.1", "outside")]
    session.settle("1.1", "answer")
    assert session.resume().value == "answer!"
    assert bank.paid == []
