"""Yeast (paper, section 4.4, figure 5): M3D compendium, P* = 160, MacIsaac's targets, GO."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rcweb.lab.applications.run import Application, run_application
from rcweb.lab.datasets import load_yeast

N_COMPONENTS = 160


def run(
    out: str | Path, *, model: Any = None, compare: bool = True, random_state: int = 0
) -> Application:
    """Fit, name, compare; tables and a page in `out`. Needs the folder named by ``RCWEB_DATA``.

    model : an unfitted estimator; by default ``RCweb(160)`` with the default engine
    compare : also run FastICA with 160 components
    """
    from rcweb.estimator import RCweb

    chosen = RCweb(N_COMPONENTS, random_state=random_state) if model is None else model
    return run_application(load_yeast(), Path(out), chosen, compare=compare)
