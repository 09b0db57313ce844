"""The wedding planner's tools: `tools.py NAME`, arguments as JSON on stdin, one JSON value on stdout."""

import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
STATE = Path(os.environ.get("WEDDING_STATE", HERE / "state"))


def read(name):
    return json.loads((HERE / name).read_text(encoding="utf-8"))


def append(name, line):
    STATE.mkdir(parents=True, exist_ok=True)
    with (STATE / name).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line, ensure_ascii=False) + "\n")


def send_mail(mail):
    # The key is the same for every attempt at this call, so a mail server could drop a second one.
    append("outbox.jsonl", {"key": os.environ["CHRYSALID_IDEMPOTENCY_KEY"], **mail})
    return {"sent": True, "to": mail["to"]}


TOOLS = {
    "rsvps.list": lambda _: read("rsvps.json"),
    "contracts.list": lambda _: read("contracts.json"),
    "budget.read": lambda _: read("budget.json"),
    "mail.send": send_mail,
}


def main():
    name = sys.argv[1]
    arguments = json.load(sys.stdin)
    append("calls.jsonl", {"call": os.environ["CHRYSALID_CALL"], "tool": name})
    json.dump(TOOLS[name](arguments), sys.stdout, ensure_ascii=False)


main()
