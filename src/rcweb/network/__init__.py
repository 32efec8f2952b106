"""The labelled bipartite network from regulators to targets, and its formats for other tools.

May import: storage.
Exports: `Network`, `Explanation`, `EDGE_COLUMNS`.
"""

from __future__ import annotations

from rcweb.network.explanation import Explanation
from rcweb.network.network import EDGE_COLUMNS, Network

__all__ = ["EDGE_COLUMNS", "Explanation", "Network"]
