"""Says what is wrong with the content of a built wheel or source archive; by ``nox -s dist``.

python tests/release/contents.py dist/rcweb-*
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[2]
# Beside modules the package holds its typed marker, stubs, the page's parts and one small table.
KINDS = {".py", ".pyi", ".typed", ".js", ".css", ".html"}
TABLES = {"rcweb/lab/benchmark/published_figure3.csv"}
LARGEST = 3 << 20  # bytes; both are far below


def tracked() -> set[str]:
    """Files of the repository: nothing else may be released."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z"]
    return set(subprocess.check_output(command, text=True).rstrip("\0").split("\0"))


def wrong_in_wheel(names: list[str], known: set[str]) -> list[str]:
    """Sentences about files that are missing or should not be there."""
    inside = {name for name in names if ".dist-info/" not in name}
    expected = {name.removeprefix("src/") for name in known if name.startswith("src/")}
    said = [f"{name} is missing" for name in sorted(expected - inside)]
    said += [f"{name} is not in the repository" for name in sorted(inside - expected)]
    odd = {name for name in inside if PurePosixPath(name).suffix not in KINDS} - TABLES
    said += [f"{name} is of an unexpected kind" for name in sorted(odd)]
    said += [] if "rcweb/py.typed" in inside else ["py.typed is missing"]
    licence = any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    return said + ([] if licence else ["the licence is missing"])


def wrong_in_archive(names: list[str], known: set[str]) -> list[str]:
    """The same for the source archive."""
    inside = {name.split("/", 1)[1] for name in names} - {"PKG-INFO"}
    said = [f"{name} is not in the repository" for name in sorted(inside - known)]
    wanted = ("src/", "tests/", "docs/", "LICENSE", "README.md", "pyproject.toml", "conftest.py")
    missing = {name for name in known if name.startswith(wanted)} - inside
    said += [f"{name} is missing" for name in sorted(missing)]
    results = [name for name in inside if name.startswith("benchmarks/")]
    return said + [f"{name} is of the benchmark" for name in sorted(results)]


def main(paths: list[Path]) -> None:
    known, said = tracked(), []
    for path in paths:
        if path.suffix == ".whl":
            with zipfile.ZipFile(path) as wheel:
                problems = wrong_in_wheel(wheel.namelist(), known)
        else:
            with tarfile.open(path) as archive:
                files = [member.name for member in archive.getmembers() if member.isfile()]
                problems = wrong_in_archive(files, known)
        if path.stat().st_size > LARGEST:
            problems.append(f"it has {path.stat().st_size:,} bytes")
        said += [f"{path.name}: {problem}" for problem in problems]
        print(f"{path.name}: {path.stat().st_size:,} bytes")
    if said or not paths:
        raise SystemExit("\n".join(said) or "there is nothing to look at")


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]])
