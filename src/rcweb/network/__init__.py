"""The labelled bipartite network from regulators to targets, and its formats for other tools.

May import: storage.
Exports: `Network`, `EDGE_COLUMNS`, `GRADES`, `grades_of`.
"""

from __future__ import annotations

from rcweb.network.grades import GRADES, grades_of
from rcweb.network.network import EDGE_COLUMNS, Network

__all__ = ["EDGE_COLUMNS", "GRADES", "Network", "grades_of"]
