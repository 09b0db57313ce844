"""Writes guest/guest.prof: how often each line of QuickJS runs in ordinary programs.

    python bench/profile/profile.py <folder with QuickJS's sources> <folder to work in>

Needs gcc with gcov. The programs are those of the benchmark and `ordinary.js`, which is there so that the compiler is not
told of the benchmark alone. A line is named by its distance from the start of its function, as the compiler's text format
for sampled profiles wants it. Counts are exact, and only those of the hash tables move from run to run, with addresses.

To be run again for another version of QuickJS, and when `guest/shortcuts.h` changes.
"""

import json
import struct
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
UNITS = ["libregexp.c", "libunicode.c", "dtoa.c"]
ORDINARY_ROUNDS = 30
OURS = {"main", "serve", "run", "fail", "now_nanos"}


def build(quickjs: Path, work: Path) -> Path:
    runner = (ROOT / "bench" / "native.c").read_text()
    include = '#include "quickjs.c"'
    assert include in runner
    shortcuts = '#include <stdbool.h>\n#include "shortcuts.h"\n'
    (work / "runner.c").write_text(runner.replace(include, shortcuts + include))
    command = ["gcc", "-O0", "--coverage", "-DNDEBUG", "-D_GNU_SOURCE", "-w", f"-I{quickjs}", f"-I{ROOT / 'guest'}"]
    command += ["runner.c", *(str(quickjs / unit) for unit in UNITS), "-lm", "-lpthread", "-o", "runner"]
    subprocess.run(command, cwd=work, check=True)
    return work / "runner"


def exercise(runner: Path) -> None:
    programs = [path.read_text() for path in sorted((ROOT / "bench" / "programs").glob("*.js"))]
    programs += [(HERE / "ordinary.js").read_text()] * ORDINARY_ROUNDS
    sources = [program.encode() for program in programs]
    text = b"".join(struct.pack("<I", len(source)) + source for source in sources)
    subprocess.run([runner], input=text, stdout=subprocess.DEVNULL, cwd=runner.parent, check=True)


def functions(work: Path) -> dict[str, tuple[int, dict[int, int]]]:
    """Name to total and counts by line; of functions with one name, the one that runs most."""
    command = ["gcov", "--json-format", "--stdout", *(path.name for path in sorted(work.glob("*.gcda")))]
    found: dict[str, tuple[int, dict[int, int]]] = {}
    output = subprocess.run(command, cwd=work, check=True, stdout=subprocess.PIPE, text=True).stdout
    for report in output.splitlines():
        for file in json.loads(report)["files"] if report.strip() else []:
            starts = {function["name"]: function["start_line"] for function in file["functions"]}
            lines: dict[str, dict[int, int]] = defaultdict(dict)
            for line in file["lines"]:
                name, number = line.get("function_name"), line["line_number"]
                if name in starts and name not in OURS and number >= starts[name]:
                    at = number - starts[name]
                    lines[name][at] = max(lines[name].get(at, 0), line["count"])
            for name, counts in lines.items():
                total = sum(counts.values())
                if name not in found or total > found[name][0]:
                    found[name] = (total, counts)
    return found


def write(found: dict[str, tuple[int, dict[int, int]]], path: Path) -> None:
    text = []
    for name, (total, counts) in sorted(found.items()):
        lines = sorted(counts.items())
        text.append(f"{name}:{total}:{lines[0][1]}\n")
        text += [f" {at}: {count}\n" for at, count in lines if total]
    path.write_text("".join(text))


def main() -> None:
    quickjs, work = (Path(argument).resolve() for argument in sys.argv[1:3])
    work.mkdir(parents=True, exist_ok=True)
    for path in work.glob("*.gc*"):
        path.unlink()
    exercise(build(quickjs, work))
    write(functions(work), ROOT / "guest" / "guest.prof")


main()
