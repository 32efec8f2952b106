"""Rows on disk: one JSON object a line, appended as soon as it is measured.

The first line of each session describes the machine and the versions, and rows point to it, so
that a file that was interrupted and resumed elsewhere still says where each number comes from. In
the same way a cell is described once, before its first row.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd

from rcweb.storage.provenance import installed_version
from rcweb.storage.version import __version__

LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "pandas")


def environment() -> dict[str, Any]:
    """Versions, commit and machine, with an ``environment`` id made of them."""
    facts: dict[str, Any] = {
        "rcweb": __version__,
        "commit": _commit(),
        "python": platform.python_version(),
        **{name: installed_version(name) or "missing" for name in LIBRARIES},
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cpus": os.cpu_count(),
    }
    text = json.dumps(facts, sort_keys=True)
    # A short id: rows repeat it thousands of times.
    return {"environment": hashlib.sha256(text.encode()).hexdigest()[:8], **facts}


def _commit() -> str:
    """The commit of the source, if rcweb runs from a clone; changes are marked with a +."""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--abbrev=10"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return done.stdout.strip()


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"


class Store:
    """The rows of one plan in one file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows = read_lines(path)
        self._described = {row["describes"] for row in self.rows if "describes" in row}

    def finished(self, retry: bool = False) -> set[tuple[str, str, int, int]]:
        """Keys of the tasks that have a row; with `retry` only of those that succeeded."""
        return {
            (row["cell"], row["method"], row["seed"], row["threads"])
            for row in self.rows
            if "cell" in row and not (retry and row["status"] != "ok")
        }

    def describe(self, cell: str, facts: dict[str, Any]) -> None:
        """Write the description of a cell once."""
        if cell not in self._described:
            self.append({"describes": cell, **facts})
            self._described.add(cell)

    def append(self, row: dict[str, Any]) -> None:
        """Write one line and push it to the disk: an interrupted run loses nothing."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab+") as file:
            # Appending after half a line would damage this row too.
            _end_line(file)
            file.write(json.dumps(row).encode() + b"\n")
        self.rows.append(row)


def _end_line(file: Any) -> None:
    """A run that was killed may have left half a line: keep the next row off it."""
    if file.seek(0, os.SEEK_END) > 0:
        file.seek(-1, os.SEEK_END)
        if file.read(1) != b"\n":
            file.write(b"\n")


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Every whole line of the file; a half line of a killed run is dropped."""
    if not path.exists():
        return []
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            rows.append(json.loads(line))
        # Half a line; the task counts as not measured and runs again.
        except json.JSONDecodeError:
            continue
    return rows


def read_rows(path: Path) -> pd.DataFrame:
    """The measurements as a table, the last row of each task, with what their cells are.

    path : of the file ``rows.jsonl`` of a plan
    """
    lines = read_lines(path)
    cells = {line["describes"]: line for line in lines if "describes" in line}
    table = pd.DataFrame(
        [{**cells.get(line["cell"], {}), **line} for line in lines if "cell" in line]
    )
    if table.empty:
        return table
    keys = ["cell", "method", "seed", "threads"]
    # A retried task has two rows; the later one counts.
    once = table.drop_duplicates(keys, keep="last").reset_index(drop=True)
    return once.drop(columns="describes", errors="ignore")


def store_table(name: str, table: pd.DataFrame, results: Path = Path("benchmarks/results")) -> None:
    """Keep a table as a page shows it, between ``<!-- table file NAME -->`` and ``<!-- end -->``,
    and what it was made with."""
    folder = results / name
    folder.mkdir(parents=True, exist_ok=True)
    table.to_csv(folder / "table.csv", index=False)
    made = json.dumps(environment(), indent=1) + "\n"
    (folder / "environment.json").write_text(made, encoding="utf-8")
