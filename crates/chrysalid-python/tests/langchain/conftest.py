"""Fixtures of the middleware's tests: a thread on SQLite, and a PostgreSQL server for those that want one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import postgres
from harness.script import program
from harness.thread import Thread, stop_forge


@pytest.fixture(scope="session", autouse=True)
def _forge() -> Iterator[None]:
    yield
    stop_forge()


@pytest.fixture
def thread(tmp_path: Path) -> Callable[..., Thread]:
    """`thread(agent, saver="sqlite")`: a new thread with files of its own."""
    count = 0

    def make(agent: dict[str, Any], saver: str = "sqlite", **options: Any) -> Thread:
        nonlocal count
        count += 1
        folder = tmp_path / str(count)
        folder.mkdir()
        return Thread(folder, agent, saver, **options)

    return make


@pytest.fixture
def answers(thread: Callable[..., Thread]) -> Callable[..., list[str]]:
    """`answers(code, ..., tools=[...], options={...})`: what the model is told after each program, in this process."""

    def run(*codes: str, tools: list[str] | None = None, **spec: Any) -> list[str]:
        report = thread(program(*codes, tools=tools or [], kind=spec.pop("kind", "plain"), **spec), "memory:").send()
        assert report.is_over, report.error or report.interrupts
        return [report.result(f"e{number}") for number in range(1, len(codes) + 1)]

    return run


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The URL of a server that lives as long as the test session."""
    with postgres.server() as url:
        yield url


@pytest.fixture
def saver(request: pytest.FixtureRequest) -> str:
    """A checkpointer by the name that the test is parametrized with; `postgres` ones start the server."""
    name: str = request.param
    if not name.startswith("postgres"):
        return name
    url: str = request.getfixturevalue("postgres_url")
    return url if name == "postgres" else url.replace("postgresql:", "postgresql+async:")
