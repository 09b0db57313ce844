"""Effects, one line of a file each, and the points at which a process is killed.

A line is written with one `write` to a file opened for appending, and flushed to the disk, so that lines of several
processes do not mix and a line outlives `kill -9`.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

FILE = "HARNESS_EFFECTS"
KILL = "HARNESS_KILL"


def effect(line: str) -> int:
    """Writes one effect down and gives how many there are now.

    `HARNESS_KILL` may be `before <line>` or `after <line>`, or the beginning of that: the process ends there.
    """
    die_at(f"before {line}")
    path = Path(os.environ[FILE])
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(handle, f"{line}\n".encode())
        os.fsync(handle)
    finally:
        os.close(handle)
    die_at(f"after {line}")
    return len(path.read_text().splitlines())


def die_at(point: str) -> None:
    """Ends this process with SIGKILL if it was started to die at this point."""
    wanted = os.environ.get(KILL)
    if wanted is not None and (point + " ").startswith(wanted + " "):
        os.kill(os.getpid(), signal.SIGKILL)


def written(path: Path) -> list[str]:
    """All effects so far, in their order."""
    return path.read_text().splitlines() if path.exists() else []
