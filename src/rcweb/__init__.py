"""Sparse networks from hidden regulators to measured variables: ``G = R C + noise``."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rcweb._version import __version__

if TYPE_CHECKING:
    from rcweb.anndata import fit_anndata
    from rcweb.estimator import RCweb
    from rcweb.io import load_model, read_table, save_model

__all__ = [
    "RCweb",
    "__version__",
    "fit_anndata",
    "load_model",
    "read_table",
    "save_model",
]

# Loaded on first use: scikit-learn and pandas would keep `rcweb --help` waiting.
_HOMES = {
    "RCweb": "estimator",
    "fit_anndata": "anndata",
    "load_model": "io",
    "read_table": "io",
    "save_model": "io",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"rcweb.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'rcweb' has no attribute {name!r}")
