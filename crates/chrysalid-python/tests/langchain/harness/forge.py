"""Makes the process of a step by a fork, so that a step does not pay for the imports: `python -m harness.forge`.

It has imported LangChain, LangGraph and deepagents, and never the interpreter that is tested: the child does that, and
starts as empty as a new process.

Lines of JSON: in, `{"request": PATH, "environment": {...}, "errors": PATH}`; out, first `{"pid"}`, then `{"status"}`.
"""

from __future__ import annotations

import json
import os
import sys
import traceback

from . import step


def serve() -> None:
    for line in sys.stdin:
        job = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _child(job)
        print(json.dumps({"pid": pid}), flush=True)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        print(json.dumps({"status": status}), flush=True)


def _child(job: dict[str, object]) -> None:
    code = 1
    try:
        errors = os.open(str(job["errors"]), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(errors, 1)
        os.dup2(errors, 2)
        os.environ.clear()
        os.environ.update(job["environment"])  # type: ignore[call-overload]
        step.main(str(job["request"]))
        code = 0
    except BaseException:  # noqa: BLE001 - the child must not run on into the loop of its parent
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


if __name__ == "__main__":
    serve()
