"""E. coli: PRECISE against RegulonDB, beside the published iModulons."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rcweb.lab.applications.run import Application, run_application
from rcweb.lab.datasets import load_ecoli

N_COMPONENTS = 92  # as many as there are published iModulons


def run(
    out: str | Path, *, model: Any = None, compare: bool = True, random_state: int = 0
) -> Application:
    """Fit, name, compare; tables and a page in `out`. Needs a package index once.

    model : an unfitted estimator; by default ``RCweb(92)`` with the default engine
    compare : also run FastICA with 92 components
    """
    from rcweb.estimator import RCweb

    chosen = RCweb(N_COMPONENTS, random_state=random_state) if model is None else model
    return run_application(load_ecoli(), Path(out), chosen, compare=compare)
