"""Sparse networks from hidden regulators to measured variables: ``G = R C + noise``."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from rcweb.storage.version import __version__

if TYPE_CHECKING:
    from rcweb import activity as activity
    from rcweb import knowledge as knowledge
    from rcweb import plot as plot
    from rcweb import report as report
    from rcweb.estimator import RCweb, load_model, save_model
    from rcweb.estimator.anndata import fit_anndata
    from rcweb.lab import datasets as datasets
    from rcweb.lab import simulate as simulate
    from rcweb.tables import read_table

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
    "RCweb": "rcweb.estimator",
    "fit_anndata": "rcweb.estimator.anndata",
    "load_model": "rcweb.estimator",
    "read_table": "rcweb.tables",
    "save_model": "rcweb.estimator",
}
# Modules that users reach as attributes, and two of them under a short name as well:
# ``from rcweb.simulate import simulate``. Type checkers read ``simulate.pyi`` and ``datasets.pyi``.
_MODULES = {
    "activity": "rcweb.activity",
    "datasets": "rcweb.lab.datasets",
    "knowledge": "rcweb.knowledge",
    "plot": "rcweb.plot",
    "report": "rcweb.report",
    "simulate": "rcweb.lab.simulate",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _MODULES:
        return import_module(_MODULES[name])
    raise AttributeError(f"module 'rcweb' has no attribute {name!r}")


class _ShortName(ModuleType):
    """A module under a second, shorter name; imported when something in it is asked for."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(_MODULES[self.__name__.removeprefix("rcweb.")]), name)


for _name, _home in _MODULES.items():
    if _home != f"rcweb.{_name}":
        sys.modules[f"rcweb.{_name}"] = _ShortName(f"rcweb.{_name}")
