"""Approvals of calls from code: what is asked, what each decision does, and what a wrong one does not."""

from __future__ import annotations

from typing import Any

import pytest
from deepagents import create_deep_agent
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, interrupt

import chrysalid
from chrysalid.langchain import CodeInterpreterMiddleware, UnsupportedVersion, WrongDecisions
from scripted import ScriptedModel, approve, texts, thread, user

EVERY = ["approve", "edit", "reject", "respond"]


class Mail:
    """A tool with an effect that is counted."""

    def __init__(self, **metadata: Any) -> None:
        self.sent: list[str] = []

        @tool
        def send_email(to: str) -> str:
            """Sends a mail."""
            self.sent.append(to)
            return f"sent to {to}"

        @tool
        def look(what: str) -> str:
            """Looks."""
            self.sent.append(f"look {what}")
            return what

        send_email.metadata = metadata or None
        self.tools = [send_email, look]

    def agent(self, code: Any, *, deep: bool = True, **options: Any) -> Any:
        """A new agent object over the same effects."""
        interrupt_on = options.pop("interrupt_on", {"send_email": True})
        middleware = [CodeInterpreterMiddleware(ptc=["send_email", "look"], **options)]
        script = code if isinstance(code, list) else [[code]]
        if not deep:
            middleware = [*middleware, HumanInTheLoopMiddleware(interrupt_on)]
            return create_agent(
                ScriptedModel(script=script), self.tools, middleware=middleware, checkpointer=self.saver
            )
        return create_deep_agent(
            ScriptedModel(script=script),
            self.tools,
            middleware=middleware,
            interrupt_on=interrupt_on,
            checkpointer=self.saver,
        )

    saver = InMemorySaver()


@pytest.fixture
def mail() -> Mail:
    made = Mail()
    made.saver = InMemorySaver()
    return made


def asked(result: dict[str, Any]) -> dict[str, Any]:
    """The one question of a paused run."""
    (one,) = result["__interrupt__"]
    value: dict[str, Any] = one.value
    return value


def decide(*decisions: Any) -> Command[Any]:
    return Command(resume={"decisions": list(decisions)})


@pytest.mark.parametrize("deep", [True, False])
def test_interrupt_on_holds_for_calls_from_code(mail: Mail, deep: bool) -> None:
    agent = mail.agent("await tools.sendEmail({to: 'ann'})", deep=deep)
    question = asked(agent.invoke(user(), thread()))
    assert question == {
        "action_requests": [
            {
                "name": "send_email",
                "args": {"to": "ann"},
                "description": "Tool execution requires approval\n\nTool: send_email\nArgs: {'to': 'ann'}\n"
                "Called by code, line 1, column 13",
            }
        ],
        "review_configs": [{"action_name": "send_email", "allowed_decisions": EVERY}],
    }
    assert mail.sent == []
    assert texts(agent.invoke(Command(resume=approve()), thread())) == ["<result>sent to ann</result>"]
    assert mail.sent == ["ann"]


def test_each_decision(mail: Mail) -> None:
    code = """
        const calls = ['a', 'b', 'c', 'd'].map(to => tools.sendEmail({to}));
        (await Promise.allSettled(calls)).map(one => one.value ?? one.reason.name + ': ' + one.reason.message)
    """
    agent = mail.agent(code)
    assert len(asked(agent.invoke(user(), thread()))["action_requests"]) == 4
    result = agent.invoke(
        decide(
            {"type": "approve"},
            {"type": "edit", "edited_action": {"name": "send_email", "args": {"to": "edited"}}},
            {"type": "reject", "message": "not her"},
            {"type": "respond", "message": "I wrote a letter"},
        ),
        thread(),
    )
    assert texts(result) == [
        "<result>[\n  'sent to a',\n  'sent to edited',\n"
        "  'ToolRejected: sendEmail was rejected: not her',\n  'I wrote a letter'\n]</result>\n"
        "<note>A person edited the call of send_email: what ran is send_email with {'to': 'edited'}.</note>"
    ]
    assert sorted(mail.sent) == ["a", "edited"]


def test_an_edit_may_name_another_tool(mail: Mail) -> None:
    agent = mail.agent("await tools.sendEmail({to: 'a'})")
    agent.invoke(user(), thread())
    edited = {"type": "edit", "edited_action": {"name": "look", "args": {"what": "w"}}}
    assert texts(agent.invoke(decide(edited), thread())) == [
        "<result>w</result>\n<note>A person edited the call of send_email: what ran is look with {'what': 'w'}.</note>"
    ]
    assert mail.sent == ["look w"]


def test_a_program_cannot_notice_a_pause_or_catch_it(mail: Mail) -> None:
    code = "let r; try { r = await tools.sendEmail({to: 'a'}) } catch (e) { r = 'caught' } finally { r += '.' } r"
    agent = mail.agent(code)
    agent.invoke(user(), thread())
    assert texts(agent.invoke(Command(resume=approve()), thread())) == ["<result>sent to a.</result>"]


def test_decisions_that_do_not_fit_are_refused_and_can_be_given_again(mail: Mail) -> None:
    agent = mail.agent(
        "await Promise.all([tools.sendEmail({to: 'a'}), tools.sendEmail({to: 'b'})])",
        interrupt_on={"send_email": {"allowed_decisions": ["approve", "edit"]}},
    )
    agent.invoke(user(), thread())
    with pytest.raises(WrongDecisions, match=r"number of decisions \(1\) does not match number of pending calls \(2\)"):
        agent.invoke(Command(resume=approve(1)), thread())
    with pytest.raises(
        WrongDecisions, match="decision 'reject' is not allowed for send_email, expected one of approve, edit"
    ):
        agent.invoke(decide({"type": "approve"}, {"type": "reject"}), thread())
    bad = {"type": "edit", "edited_action": {"name": "send_email", "args": {"to": 5}}}
    with pytest.raises(WrongDecisions, match='"to" must be a string'):
        agent.invoke(decide({"type": "approve"}, bad), thread())
    assert mail.sent == []
    result = agent.invoke(Command(resume=approve(2)), thread())
    assert texts(result) == ["<result>[ 'sent to a', 'sent to b' ]</result>"]
    assert sorted(mail.sent) == ["a", "b"]


def test_three_in_parallel_answered_in_several_resumes(mail: Mail) -> None:
    agent = mail.agent("await Promise.all(['a', 'b', 'c'].map(to => tools.sendEmail({to})))")
    agent.invoke(user(), thread())
    second = asked(agent.invoke(decide(None, {"type": "approve"}, None), thread()))
    assert [one["args"]["to"] for one in second["action_requests"]] == ["a", "c"]
    assert mail.sent == ["b"]
    third = asked(agent.invoke(decide({"type": "approve"}, None), thread()))
    assert [one["args"]["to"] for one in third["action_requests"]] == ["c"]
    result = agent.invoke(Command(resume=approve()), thread())
    assert texts(result) == ["<result>[ 'sent to a', 'sent to b', 'sent to c' ]</result>"]
    assert mail.sent == ["b", "a", "c"]


def test_two_pauses_in_a_row_and_nothing_before_them_again(mail: Mail) -> None:
    code = """
        await tools.look({what: 'x'});
        const a = await tools.sendEmail({to: 'a'});
        await tools.look({what: 'y'});
        a + ', ' + await tools.sendEmail({to: 'b'})
    """
    mail.agent(code).invoke(user(), thread())
    assert mail.sent == ["look x"]
    mail.agent(code).invoke(Command(resume=approve()), thread())
    assert mail.sent == ["look x", "a", "look y"]
    assert "__interrupt__" in mail.agent(code).invoke(None, thread())
    assert mail.sent == ["look x", "a", "look y"]
    result = mail.agent(code).invoke(Command(resume=approve()), thread())
    assert texts(result) == ["<result>sent to a, sent to b</result>"]
    assert mail.sent == ["look x", "a", "look y", "b"]


def test_variables_of_earlier_evals_are_there_after_a_pause(mail: Mail) -> None:
    script = [
        ["let a = 1; function f() { return a + 1 } void 0", "a = f(); await tools.sendEmail({to: 'x'}); a + f()", "a"]
    ]
    mail.agent(script).invoke(user(), thread())
    result = mail.agent(script).invoke(Command(resume=approve()), thread())
    assert texts(result) == ["<result>undefined</result>", "<result>5</result>", "<result>2</result>"]


def test_when_and_description(mail: Mail) -> None:
    seen = []

    def when(request: Any) -> bool:
        seen.append((request.tool.name, request.tool_call["args"], len(request.state["messages"])))
        return str(request.tool_call["args"]["to"]).startswith("x")

    entry = {
        "allowed_decisions": ["approve"],
        "when": when,
        "description": lambda call, state, runtime: f"{call['name']} to {call['args']['to']}, {len(state['messages'])}",
    }
    agent = mail.agent(
        "[await tools.sendEmail({to: 'a'}), await tools.sendEmail({to: 'x'})]", interrupt_on={"send_email": entry}
    )
    question = asked(agent.invoke(user(), thread()))
    assert question["action_requests"] == [
        {"name": "send_email", "args": {"to": "x"}, "description": "send_email to x, 2"}
    ]
    assert question["review_configs"] == [{"action_name": "send_email", "allowed_decisions": ["approve"]}]
    assert seen[:2] == [("send_email", {"to": "a"}, 2), ("send_email", {"to": "x"}, 2)]
    assert mail.sent == ["a"]


def test_false_is_no_gate_and_own_entries_come_first(mail: Mail) -> None:
    code = "[await tools.look({what: 'a'}), await tools.sendEmail({to: 'b'})]"
    options = CodeInterpreterMiddleware(ptc=["send_email", "look"], interrupt_on={"send_email": False, "look": True})
    agent = create_deep_agent(
        ScriptedModel(script=[[code]]),
        mail.tools,
        middleware=[options],
        interrupt_on={"send_email": True},
        checkpointer=mail.saver,
    )
    assert [one["name"] for one in asked(agent.invoke(user(), thread()))["action_requests"]] == ["look"]
    assert texts(agent.invoke(Command(resume=approve()), thread())) == ["<result>[ 'a', 'sent to b' ]</result>"]


def test_labels_of_a_tool_and_the_policy_ask_too() -> None:
    labelled = Mail(chrysalid={"approval": "always", "approval_decisions": ["approve", "reject"]})
    labelled.saver = InMemorySaver()
    question = asked(labelled.agent("await tools.sendEmail({to: 'a'})", interrupt_on={}).invoke(user(), thread()))
    assert question["review_configs"] == [{"action_name": "send_email", "allowed_decisions": ["approve", "reject"]}]

    ruled = Mail()
    ruled.saver = InMemorySaver()
    rule = '[[rules]]\ntools = "sendEmail"\ndecision = "ask"\nreason = "mail leaves the house"\n'
    agent = ruled.agent("await tools.sendEmail({to: 'a'})", interrupt_on={}, policy=chrysalid.Policy.parse(rule))
    question = asked(agent.invoke(user(), thread()))
    assert "mail leaves the house" in question["action_requests"][0]["description"]
    assert texts(agent.invoke(Command(resume=approve()), thread())) == ["<result>sent to a</result>"]


def ask_user() -> Any:
    """A tool that asks two questions itself."""

    @tool
    def interview(topic: str) -> str:
        """Interviews."""
        name = interrupt({"question": f"name for {topic}?"})
        age = interrupt(f"age of {name}?")
        return f"{name} is {age}"

    return interview


def test_a_tool_that_interrupts_itself_beside_a_gated_one(mail: Mail) -> None:
    interview = ask_user()
    code = "await Promise.all([tools.interview({topic: 't'}), tools.sendEmail({to: 'a'})])"
    agent = create_deep_agent(
        ScriptedModel(script=[[code]]),
        [*mail.tools, interview],
        middleware=[CodeInterpreterMiddleware(ptc=["send_email", "interview"])],
        interrupt_on={"send_email": True},
        checkpointer=mail.saver,
    )
    first = asked(agent.invoke(user(), thread()))
    assert next((one["name"], one["description"]) for one in first["action_requests"]) == (
        "interview",
        '{"question": "name for t?"}',
    )
    assert first["review_configs"][0] == {"action_name": "interview", "allowed_decisions": ["respond"]}
    second = asked(agent.invoke(decide({"type": "respond", "message": "Ann"}, {"type": "approve"}), thread()))
    assert [one["description"] for one in second["action_requests"]] == ["age of Ann?"]
    assert mail.sent == ["a"]
    result = agent.invoke(decide({"type": "respond", "message": 30}), thread())
    assert texts(result) == ["<result>[ 'Ann is 30', 'sent to a' ]</result>"]
    assert mail.sent == ["a"]


def test_an_agent_that_nobody_knows_is_refused_before_any_call() -> None:
    own = CodeInterpreterMiddleware()
    node = ToolNode(own.tools, handle_tool_errors=False)
    call = {"name": "eval", "args": {"code": "1"}, "id": "1", "type": "tool_call"}
    from langgraph.graph import END, START, MessagesState, StateGraph

    graph = StateGraph(MessagesState).add_node("tools", node).add_edge(START, "tools").add_edge("tools", END).compile()
    from langchain_core.messages import AIMessage

    with pytest.raises(UnsupportedVersion, match="was not built by create_agent; pass interrupt_on="):
        graph.invoke({"messages": [AIMessage("", tool_calls=[call])]})
    known = CodeInterpreterMiddleware(interrupt_on={}, middleware=[])
    node = ToolNode(known.tools)
    graph = StateGraph(MessagesState).add_node("tools", node).add_edge(START, "tools").add_edge("tools", END).compile()
    result = graph.invoke({"messages": [AIMessage("", tool_calls=[call])]})
    assert texts(result) == ["<result>1</result>"]


def test_evals_behind_one_that_pauses(mail: Mail) -> None:
    script = [[["let a = await tools.sendEmail({to: 'a'}); a", "a + '!'"]]]
    agent = mail.agent(script)
    agent.invoke(user(), thread())
    first, second = texts(agent.invoke(Command(resume=approve()), thread()))
    assert first == "<result>sent to a</result>"
    assert second == (
        '<error type="SessionPaused">not run: eval call-0-0-0 before it waits for approval of send_email; '
        "run it again once that one has ended</error>"
    )
    waiting = mail.agent(script, wait_behind_pause=True)
    waiting.invoke(user(), thread("2"))
    result = waiting.invoke(Command(resume=approve()), thread("2"))
    assert texts(result) == ["<result>sent to a</result>", "<result>sent to a!</result>"]


def test_evals_of_one_message_share_the_heap_in_order(mail: Mail) -> None:
    script = [[["let n = 1; n", "n += 1; n", "n *= 10; n"], "n"]]
    assert texts(mail.agent(script).invoke(user(), thread())) == [f"<result>{n}</result>" for n in (1, 2, 20, 20)]


def test_with_mode_call_evals_of_one_message_pause_and_are_answered_each_on_its_own(mail: Mail) -> None:
    script = [[["await tools.sendEmail({to: 'a'})", "await tools.sendEmail({to: 'b'})"]]]
    agent = mail.agent(script, mode="call")
    first, second = agent.invoke(user(), thread())["__interrupt__"]
    left = agent.invoke(Command(resume={second.id: approve()}), thread())
    assert [one.id for one in left["__interrupt__"]] == [first.id]
    assert len(mail.sent) == 1
    result = agent.invoke(Command(resume={first.id: {"decisions": [{"type": "reject"}]}}), thread())
    assert sorted(text.partition(">")[0] for text in texts(result)) == ['<error type="ToolRejected"', "<result"]
    assert len(mail.sent) == 1


def test_a_description_is_bounded_and_names_the_calls_before(mail: Mail) -> None:
    code = "await tools.look({what: 'a'}); await tools.look({what: 'b'}); await tools.sendEmail({to: 'x'.repeat(9000)})"
    (action,) = asked(mail.agent(code).invoke(user(), thread()))["action_requests"]
    assert len(action["args"]["to"]) == 9000
    assert len(action["description"]) < 2300
    assert "… [truncated" in action["description"]
    assert action["description"].endswith("\nCalled by code, line 1, column 75\nCalls before it: look ×2")


@pytest.mark.parametrize("mode", ["call", "turn", "thread"])
def test_what_programs_have_met_outlasts_their_heaps(mode: Any) -> None:
    done: list[str] = []

    def made(name: str, effect: str) -> Any:
        @tool(name)
        def one() -> str:
            """Does one thing."""
            done.append(name)
            return name

        one.metadata = {"chrysalid": {"effects": [effect]}}
        return one

    tools = [made("read", "private"), made("browse", "untrusted"), made("post", "acts")]
    own = CodeInterpreterMiddleware(ptc=[one.name for one in tools], mode=mode, max_snapshot_bytes=10)
    script = [["await tools.post()", "await tools.read()"], ["await tools.browse()", "await tools.post()"]]
    agent = create_agent(ScriptedModel(script=script), tools, middleware=[own], checkpointer=InMemorySaver())
    agent.invoke(user(), thread())
    question = asked(agent.invoke(user("more"), thread()))
    assert done == ["post", "read", "browse"]
    assert question["action_requests"][0]["name"] == "post"
    assert "Reason: " in question["action_requests"][0]["description"]
    agent.invoke(Command(resume=approve()), thread())
    assert done == ["post", "read", "browse", "post"]


def test_what_a_withdrawn_program_had_met_counts_too() -> None:
    @tool
    def read() -> str:
        """Reads."""
        return "secret"

    @tool
    def post(text: str) -> str:
        """Posts."""
        return text

    read.metadata = {"chrysalid": {"effects": ["private", "untrusted"]}}
    post.metadata = {"chrysalid": {"effects": ["acts"]}}
    own = CodeInterpreterMiddleware(ptc=["read", "post"], mode="call")
    script = [["await tools.read(); await tools.post({text: 'a'})"], ["await tools.post({text: 'b'})"]]
    agent = create_agent(ScriptedModel(script=script), [read, post], middleware=[own], checkpointer=InMemorySaver())
    agent.invoke(user(), thread())
    question = asked(agent.invoke(user("again"), thread()))
    assert [one["args"] for one in question["action_requests"]] == [{"text": "b"}]


def test_a_tool_that_runs_two_graphs_which_both_ask(mail: Mail) -> None:
    from langgraph.graph import END, START, MessagesState, StateGraph

    def asking(question: str) -> Any:
        def node(state: Any) -> Any:
            first = interrupt(f"{question} one?")
            second = interrupt(f"{question} two?")
            return {"messages": [("ai", f"{first} {second}")]}

        return StateGraph(MessagesState).add_node("ask", node).add_edge(START, "ask").add_edge("ask", END).compile()

    first, second = asking("left"), asking("right")

    @tool
    def both() -> str:
        """Asks through two graphs."""
        left = first.invoke({"messages": [("user", "go")]})["messages"][-1].content
        right = second.invoke({"messages": [("user", "go")]})["messages"][-1].content
        return f"{left}, {right}"

    agent = create_agent(
        ScriptedModel(script=[["await tools.both()"]]),
        [both],
        middleware=[CodeInterpreterMiddleware(ptc=["both"])],
        checkpointer=mail.saver,
    )
    result = agent.invoke(user(), thread())
    for number, question in enumerate(("left one?", "left two?", "right one?", "right two?")):
        assert asked(result)["action_requests"][0]["description"] == question
        result = agent.invoke(decide({"type": "respond", "message": str(number)}), thread())
    assert texts(result) == ["<result>0 1, 2 3</result>"]
