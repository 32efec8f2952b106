"""Every code block of README.md and docs/ is run, page by page, as a reader would.

```python          run in the page's own namespace, one block after the other
```console         lines that begin with "$ " are run; what is shown below them must be printed
                   ("..." stands for any text; of real tables, numbers to a tenth)
```text            not run: layouts, formulas, output of a block of Python
<!--- invisible-code-block: python -->   run and not shown: what a reader has at hand, and checks

Each page has a folder of its own with the files of `tests/example_files.py`. Tutorials are run by
``make docs``.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from pathlib import Path
from typing import Any

from sybil import Document, Example, Region, Sybil
from sybil.parsers.myst import CodeBlockParser, PythonCodeBlockParser, SkipParser

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT / "tests"))

# Commands that are not run here, and why: the words that they begin with.
ELSEWHERE = {
    "make": "CI runs them, and `make demo` installs",
    "pip install": "would change the environment; `make` does it",
    "git clone": "needs the repository's address",
    "nox": "runs the tests again in other environments",
    "python -m rcweb.lab.applications": "minutes; tests/lab/applications runs them (slow)",
    "RCWEB_DATA=folder python -m rcweb.lab.applications": "the same",
    "dask": "waits for other machines; tests/blocks/test_distributed.py has a cluster",
}
HOURS = "rcweb bench"  # only the plan's name and the options are checked
# Fits of real tables differ a little between processors, whose sums round differently.
REAL = ("rcweb demo",)
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


class ConsoleParser(CodeBlockParser):
    """Commands, and what they print."""

    language = "console"

    def evaluate(self, example: Example) -> str | None:
        """What went wrong, or nothing."""
        commands: list[tuple[str, str]] = []
        for line in example.parsed.splitlines(keepends=True):
            if line.startswith("$ "):
                commands.append((line[2:], ""))
            elif commands and commands[-1][0].rstrip().endswith("\\"):
                commands[-1] = (commands[-1][0] + line, "")
            elif commands:
                commands[-1] = (commands[-1][0], commands[-1][1] + line)
            else:
                return f"a console block begins with '$ ', not with {line!r}"
        for command, printed in commands:
            problem = _run(command.split("  # ")[0].strip(), printed)
            if problem:
                return problem
        return None


def _run(command: str, printed: str) -> str | None:
    if any(command.startswith(words) for words in ELSEWHERE):
        return None
    if command.startswith(HOURS):
        return _parse(shlex.split(command)[2:])
    run = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if run.returncode:
        return f"{command}\nended with {run.returncode}:\n{run.stdout}"
    expected = "".join(line + "\n" for line in printed.splitlines() if line.strip())
    alike = _alike_to_a_tenth if command in REAL else _alike
    if expected and not alike(expected, run.stdout):
        return f"{command}\nis shown as printing\n{expected}\nand prints\n{run.stdout}"
    return None


def _alike(shown: str, printed: str) -> bool:
    return OutputChecker().check_output(shown, printed, ELLIPSIS | NORMALIZE_WHITESPACE)


def _alike_to_a_tenth(shown: str, printed: str) -> bool:
    """Whether every line that is shown was printed, with about the same numbers."""

    def number(text: str) -> float:
        return float(text.replace(",", ""))

    def same(line: str, other: str) -> bool:
        words = (NUMBER.sub("#", text) + "\n" for text in (line, other))
        pairs = zip(*(map(number, NUMBER.findall(text)) for text in (line, other)))
        close = all(abs(a - b) <= max(2, 0.1 * max(a, b)) for a, b in pairs)
        return _alike(*words) and (close or "..." in line)

    lines = [line for line in shown.splitlines() if line != "..."]
    return all(any(same(line, other) for other in printed.splitlines()) for line in lines)


def _parse(words: list[str]) -> None:
    from rcweb.cli.bench import bench
    from rcweb.lab.benchmark import PLANS

    plan = bench.make_context("rcweb bench", words).params["plan"]
    assert plan in PLANS, f"there is no plan {plan!r}"


class KnownKinds:
    """Fences of any other kind are refused: they would be run by nothing."""

    def __call__(self, document: Document) -> list[Region]:
        inside = False
        for number, line in enumerate(document.text.splitlines(), start=1):
            if not line.lstrip().startswith("```"):
                continue
            kind = line.lstrip().lstrip("`").strip()
            if not inside and not kind.startswith(("python", "console", "text", "{")):
                raise ValueError(f"{document.path}, line {number}: what kind of block is this?")
            inside = not inside
        return []


def _setup(namespace: dict[str, Any]) -> None:
    import matplotlib

    from example_files import write_example_files

    matplotlib.use("Agg")
    folder = Path(tempfile.mkdtemp(prefix="rcweb-page-"))
    write_example_files(folder)
    namespace.update(
        os=os,
        no_data="RCWEB_DATA" not in os.environ,
        _folder=folder,
        _before=(Path.cwd(), os.environ["PATH"]),
    )
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    os.chdir(folder)


def _teardown(namespace: dict[str, Any]) -> None:
    from matplotlib import pyplot

    pyplot.close("all")
    before, path = namespace["_before"]
    os.chdir(before)
    os.environ["PATH"] = path
    shutil.rmtree(namespace["_folder"])


pytest_collect_file = Sybil(
    parsers=[KnownKinds(), PythonCodeBlockParser(), ConsoleParser(), SkipParser()],
    patterns=["README.md", "docs/*.md"],
    excludes=["docs/_build/*"],
    path=str(ROOT),
    setup=_setup,
    teardown=_teardown,
).pytest()
