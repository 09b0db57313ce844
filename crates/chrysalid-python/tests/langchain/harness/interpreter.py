"""The interpreter under test, named by the environment variable `CHRYSALID_TEST_INTERPRETER`."""

from __future__ import annotations

import importlib
import os
import warnings
from typing import Any

OURS = "chrysalid.langchain"


def name() -> str:
    """The module that `CodeInterpreterMiddleware` is taken from."""
    return os.environ.get("CHRYSALID_TEST_INTERPRETER", OURS)


def interpreter(**options: Any) -> Any:
    """A new middleware with these options."""
    with warnings.catch_warnings():
        # The released one warns at each construction that it is a beta.
        warnings.simplefilter("ignore")
        return importlib.import_module(name()).CodeInterpreterMiddleware(**options)
