"""A code interpreter for LangChain agents and Deep Agents, whose programs wait for people durably.

>>> from chrysalid.langchain import CodeInterpreterMiddleware
>>> CodeInterpreterMiddleware(ptc=["search"]).tools[0].name
'eval'
"""

from chrysalid.langchain.approval import WrongDecisions
from chrysalid.langchain.events import CallEvent, ConsoleEvent, SubagentEvent
from chrysalid.langchain.journal import ProgramTaken
from chrysalid.langchain.middleware import CodeInterpreterMiddleware
from chrysalid.langchain.private import UnsupportedVersion
from chrysalid.langchain.rows import Rows, Shelf

__all__ = [
    "CallEvent",
    "CodeInterpreterMiddleware",
    "ConsoleEvent",
    "ProgramTaken",
    "Rows",
    "Shelf",
    "SubagentEvent",
    "UnsupportedVersion",
    "WrongDecisions",
]
