"""Sparse networks from hidden regulators to measured variables: ``G = R C + noise``."""

from __future__ import annotations

from rcweb._version import __version__
from rcweb.estimator import RCweb

__all__ = ["RCweb", "__version__"]
