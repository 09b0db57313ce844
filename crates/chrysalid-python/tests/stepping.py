"""The step machine, on a machine that may end a slice at any place."""

from chrysalid import Call, Event, Session, Step


def step(session: Session, now: float | None = None) -> Step:
    """The next step that says more than that its slice is over."""
    while (step := session.step(now)).kind == "busy":
        pass
    return step


def step_with_events(session: Session) -> tuple[Step, list[Event]]:
    """The same, with the events of all steps up to it."""
    events: list[Event] = []
    while True:
        step = session.step()
        events += step.events
        if step.kind != "busy":
            return step, events


def step_to_calls(session: Session, count: int) -> list[Call]:
    """Steps until this many calls are handed out; there may be a slice's end between two."""
    calls: list[Call] = []
    while len(calls) < count:
        begun = step(session)
        assert begun.kind == "start", begun
        calls += begun.calls
    assert len(calls) == count
    return calls
