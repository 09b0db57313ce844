"""A sandboxed JavaScript interpreter for AI agents, with capabilities and durable pauses.

>>> import chrysalid
>>> def add(a: int, b: int) -> int:
...     return a + b
>>> session = chrysalid.Engine().session([add])
>>> session.run("await tools.add({ a: 40, b: 2 })").value
42
"""

from chrysalid._native import *  # noqa: F403
from chrysalid._native import __version__ as __version__
from chrysalid.engine import Engine as Engine
from chrysalid.session import Session as Session
from chrysalid.tools import CallContext as CallContext
from chrysalid.tools import Tool as Tool
from chrysalid.tools import ToolError as ToolError
from chrysalid.tools import Toolset as Toolset
from chrysalid.tools import tool as tool
from chrysalid.values import UNDEFINED as UNDEFINED
from chrysalid.values import BigInt as BigInt
from chrysalid.values import Description as Description
from chrysalid.values import JSError as JSError
from chrysalid.values import Map as Map
from chrysalid.values import RegExp as RegExp
