"""What the model is told: the interpreter as it is configured, how to send subagents out, and the tools.

The same configuration gives the same bytes, so that prompt caches hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from chrysalid import Toolset
from chrysalid.langchain.toolbox import Exposed, capability

if TYPE_CHECKING:
    from chrysalid.langchain.agent import Agent
    from chrysalid.langchain.options import Options

_LASTS = {
    "thread": "Top-level variables, functions and classes stay for later calls, also in later turns.",
    "turn": "Top-level variables, functions and classes stay for later calls until you have answered the user.",
    "call": "Each call starts from nothing: no variable stays for the next one.",
}
_LASTS_SHORT = {
    "thread": "Top-level names stay for later calls.",
    "turn": "Top-level names stay for later calls of this turn.",
    "call": "Each call starts from nothing.",
}
_CLOCKS = {
    "real": "`Date` and `Math.random()` work as usual.",
    "none": "There is no clock and no chance: `Date.now()` is always 0, and `Math.random()` gives the same numbers in "
    "every run.",
}


def tool_description(options: Options) -> str:
    """The description of the eval tool itself."""
    return (
        "Run JavaScript (TypeScript is fine) in a sandbox and get the value of its last expression. "
        f"{_LASTS_SHORT[options.mode]} See the system prompt for what programs can do."
    )


def code_description() -> str:
    """The description of its one argument."""
    return "The program. Its last expression is the result; promises are awaited, also at top level."


def system_prompt(options: Options, agent: Agent, exposed: Sequence[Exposed], *, subagents: bool) -> str:
    """All that is added to the system prompt."""
    reach = [name for name, there in (("`tools`", bool(exposed)), ("`task()`", subagents)) if there]
    blocks = [_interpreter(options, " and ".join(reach))]
    if subagents:
        blocks.append(_dispatch(options, agent))
    if exposed:
        blocks.append(_tools(agent, exposed))
    return "\n\n".join(blocks)


def _interpreter(options: Options, reach: str) -> str:
    rules = [
        _LASTS[options.mode],
        "The value of the last expression comes back in `<result>`"
        + (", console lines in `<stdout>`" if options.capture_console else "; console output is not shown")
        + ". A result that is no data, such as a function, is only described. "
        f"Each is cut at {options.max_result_chars} characters: return what you need, not everything you have.",
        "A failure comes back as `<error type=…>` with the line; variables set before it stay.",
        f"Bounds of one program: {', '.join(_bounds(options))}.",
        f"No files, network or process: `fetch` and `require` are not there. {_modules(options)}"
        + (f" Programs reach the outside through {reach} (below)." if reach else ""),
        _CLOCKS[options.clock],
        (
            "Some calls may wait until a person has decided. The program stands still meanwhile and then goes on; "
            "there is nothing to catch, poll or repeat. A refused call rejects with `ToolRejected`."
        ),
    ]
    return f"## The `{options.tool_name}` tool\n\nIt runs programs you write.\n\n" + _list(rules)


def _bounds(options: Options) -> list[str]:
    computing = f"{options.timeout:g} s of computing (waiting for calls is not counted)" if options.timeout else ""
    in_all = f"{options.wall_timeout:g} s in all" if options.wall_timeout else ""
    calls = f"{options.max_ptc_calls} calls" if options.max_ptc_calls else ""
    memory = f"{options.memory_limit / (1024 * 1024):g} MiB of memory"
    return [bound for bound in (computing, in_all, memory, calls) if bound]


def _modules(options: Options) -> str:
    if options.modules is None:
        return "There are no modules to `import`."
    if isinstance(options.modules, Mapping):
        return f"`import` finds {', '.join(f'`{key}`' for key in sorted(options.modules))} and nothing else."
    return "`import` finds the modules of this agent and nothing else."


def _dispatch(options: Options, agent: Agent) -> str:
    names = f" ({', '.join(sorted(agent.subagents))})" if agent.subagents else ""
    rules = [
        "`description` is all that the subagent gets: say what to do, what to look at and what to give back.",
        f"`subagentType` is one of the configured subagents{names}.",
        (
            "`responseSchema`, a JSON Schema object, makes the result a value of that shape. Use it whenever code "
            "reads the result; without it the result is the subagent's last text."
        ),
        "`label` is a few words for the user interface.",
        (
            "Start independent tasks together with `Promise.all`. "
            f"{options.max_subagent_concurrency} run at a time, the rest wait. "
            f"One program may start {options.max_subagents_per_eval}, one run {options.max_subagents_per_run}, "
            f"nested {options.max_depth} deep."
        ),
        "A failed task rejects; use `Promise.allSettled` where the others' results are worth keeping.",
    ]
    example = (
        "```js\n"
        "const found = await Promise.all(files.map(file => task({\n"
        "  description: `Read ${file} and list every function without a test.`,\n"
        f"  subagentType: {_example_type(agent)},\n"
        '  responseSchema: { type: "object", properties: { names: { type: "array", items: { type: "string" } } } },\n'
        "})));\n"
        "found.flatMap(one => one.names)\n"
        "```"
    )
    head = (
        "## Subagents from code\n\n`await task({ description, subagentType, responseSchema?, label? })` "
        f"inside `{options.tool_name}` runs a subagent."
    )
    return f"{head}\n\n{_list(rules)}\n\n{example}"


def _example_type(agent: Agent) -> str:
    return f'"{min(agent.subagents)}"' if agent.subagents else '"…"'


def _tools(agent: Agent, exposed: Sequence[Exposed]) -> str:
    known = [capability(one, agent.gates.get(one.tool.name), None, with_result=True) for one in exposed]
    return (
        f"## Tools in code\n\nEach takes one object and gives a promise.\n\n```ts\n{Toolset(known).text().strip()}\n```"
    )


def _list(rules: Sequence[str]) -> str:
    return "\n".join(f"- {rule}" for rule in rules)
