"""Writes NAME.txt, with versions and the hashes of all their wheels, from the packages that NAME.in asks for.

python lock.py NAME.in...
"""

import json
import re
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

HEAD = "# Made by lock.py from {name}: do not edit.\n"


def index() -> str:
    """The package index that pip is set to use."""
    asked = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    answer = subprocess.run(asked, capture_output=True, text=True, check=False)
    return answer.stdout.strip() or "https://pypi.org/simple"


def chosen(requirements: Path) -> list[tuple[str, str]]:
    """What pip would install into an empty environment: names and versions."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
        subprocess.run([*pip, "--only-binary", ":all:", "--report", report, "-r", requirements], check=True)
        installed = json.loads(report.read_text())["install"]
    pairs = [(item["metadata"]["name"].lower().replace("_", "-"), item["metadata"]["version"]) for item in installed]
    return sorted(pairs)


def hashes(name: str, version: str) -> list[str]:
    """SHA-256 of every wheel of a release, from its page in the index."""
    normal = re.sub(r"[-_.]+", "-", name).lower()
    with urllib.request.urlopen(f"{index().rstrip('/')}/{normal}/") as page:
        links = re.findall(r'href="[^"]*/([^/"#]+\.whl)#sha256=([0-9a-f]{64})', page.read().decode())
    found = sorted({digest for file, digest in links if file.split("-")[1] == version})
    if not found:
        sys.exit(f"no wheel of {name} {version} in the index")
    return found


def main() -> None:
    for argument in sys.argv[1:]:
        source = Path(argument)
        lines = [HEAD.format(name=source.name)]
        for name, version in chosen(source):
            lines.append(" \\\n    --hash=sha256:".join([f"{name}=={version}", *hashes(name, version)]) + "\n")
        source.with_suffix(".txt").write_text("".join(lines))


if __name__ == "__main__":
    main()
