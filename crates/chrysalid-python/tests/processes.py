"""Programs in other Python processes."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import chrysalid

# Where the package is that this process tests.
ROOT = str(Path(chrysalid.__file__).parents[1])


def python(code: str, *arguments: str, env: dict[str, str] | None = None) -> subprocess.Popen[str]:
    """A Python process that runs some code."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *arguments],
        env={**os.environ, "PYTHONPATH": ROOT, **(env or {})},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def output_of(code: str, *arguments: str, env: dict[str, str] | None = None) -> str:
    """What such a process prints; it must end well."""
    process = python(code, *arguments, env=env)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return out.strip()
