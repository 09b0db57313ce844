"""The examples for Python say what they are said to say; the one that needs a provider can at least be read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[4] / "examples" / "python"

SAID = {
    "plain.py": """\
paused: refund {'amount': 30, 'customer': 'ann'}
-- 30 go back to ann
done: ann: refunded 30
""",
    "deep_agent.py": """\
-- looking up ann
May it refund {'amount': 30, 'order': 7}?
-- refunding 30 for order 7
The program said: <result>[ 'order 7: 30 paid back' ]</result>
""",
}


@pytest.mark.parametrize("name", SAID)
def test_what_it_prints(name: str) -> None:
    ran = subprocess.run([sys.executable, "-W", "ignore", EXAMPLES / name], capture_output=True, text=True, timeout=300)
    assert (ran.returncode, ran.stdout) == (0, SAID[name]), ran.stderr


def test_the_one_with_a_provider_compiles() -> None:
    file = EXAMPLES / "deep_agent_with_provider.py"
    compile(file.read_text(), file.name, "exec")


def test_all_are_tested() -> None:
    assert {file.name for file in EXAMPLES.glob("*.py")} == {*SAID, "deep_agent_with_provider.py"}
