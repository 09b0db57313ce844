"""What the tests share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import chrysalid

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

KEY = chrysalid.Key.from_bytes(bytes(range(32)))


@pytest.fixture(scope="session")
def engine() -> chrysalid.Engine:
    """An engine with a key of the tests'."""
    return chrysalid.Engine(key=KEY)


@pytest.fixture
def session(engine: chrysalid.Engine) -> chrysalid.Session:
    """A session without tools."""
    return engine.session()


@pytest.fixture
def passed(engine: chrysalid.Engine) -> Callable[[Any], Any]:
    """What a Python value is after it went to a program as the result of a tool, and came back."""

    def through(value: Any) -> Any:
        def give() -> Any:
            return value

        outcome = engine.session([give]).run("const given = await tools.give({}); given")
        if outcome.error is not None:
            raise ValueError(str(outcome.error))
        return outcome.value

    return through


@pytest.fixture
def seen(engine: chrysalid.Engine) -> Callable[[Any, str], Any]:
    """What an expression over ``v`` gives in a program, where ``v`` is a Python value."""

    def through(value: Any, expression: str) -> Any:
        def give() -> Any:
            return value

        outcome = engine.session([give]).run(f"const v = await tools.give({{}}); {expression}")
        if outcome.error is not None:
            raise ValueError(str(outcome.error))
        return outcome.value

    return through
