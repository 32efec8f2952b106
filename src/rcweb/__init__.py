"""Sparse networks from hidden regulators to measured variables: ``G = R C + noise``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rcweb._version import __version__

if TYPE_CHECKING:
    from rcweb.estimator import RCweb

__all__ = ["RCweb", "__version__"]


def __getattr__(name: str) -> Any:
    # The estimator brings scikit-learn with it; the command line's --help must not wait for that.
    if name == "RCweb":
        from rcweb.estimator import RCweb

        return RCweb
    raise AttributeError(f"module 'rcweb' has no attribute {name!r}")
