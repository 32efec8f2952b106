"""Importing the package must not make a user wait: heavy libraries are loaded when used."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys, time
import sklearn.base, sklearn.utils.validation
start = time.thread_time()
import rcweb
rcweb.RCweb
print(time.thread_time() - start)
print(*[name for name in ("numba", "pandas", "matplotlib", "networkx") if name in sys.modules])
"""


def test_import_is_light() -> None:
    """Less than 0.3 s beyond scikit-learn, and neither numba nor anything optional."""
    before = "import sys, sklearn.base, sklearn.utils.validation; print(*sys.modules)"
    by_sklearn = run(before).split()
    seconds, *loaded = run(CODE).split()
    assert float(seconds) < 0.3
    assert set(loaded) <= set(by_sklearn)


def run(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout
