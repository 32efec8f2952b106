"""The scikit-learn estimator, its model files, and what a fit will take."""

from __future__ import annotations

from rcweb.estimator.estimator import RCweb
from rcweb.estimator.model_file import load_model, save_model

__all__ = ["RCweb", "load_model", "save_model"]
