"""Importing the package must not make a user wait: heavy libraries are loaded when used."""

from __future__ import annotations

import subprocess
import sys

SKLEARN = "import sys, sklearn.base, sklearn.utils.validation"
PACKAGES = "print(*sorted({name.partition('.')[0] for name in sys.modules}))"


def test_import_loads_nothing_beyond_scikit_learn() -> None:
    """Neither numba nor pandas nor anything optional: what is imported makes the time."""
    by_sklearn = packages(SKLEARN)
    with_rcweb = packages(f"{SKLEARN}, rcweb; rcweb.RCweb")
    assert with_rcweb - by_sklearn - set(sys.stdlib_module_names) == {"rcweb"}


def packages(code: str) -> set[str]:
    command = [sys.executable, "-c", f"{code}; {PACKAGES}"]
    return set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())
