"""The scikit-learn estimator, its model files, AnnData in and out, forecast of memory and time.

May import: blocks, engine, tables, network, storage.
Exports: `RCweb`, `load_model`, `save_model`.
"""

from __future__ import annotations

from rcweb.estimator.estimator import RCweb
from rcweb.estimator.model_file import load_model, save_model

__all__ = ["RCweb", "load_model", "save_model"]
