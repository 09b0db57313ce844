"""The Python of the documentation runs as it is written, each page from top to bottom."""

import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1]
PAGES = [PACKAGE / "README.md", PACKAGE.parents[1] / "docs" / "python.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page(page: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    assert blocks, f"{page} has no Python"
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks:
        exec(compile(block, str(page), "exec"), names)
