"""The labelled bipartite network from regulators to targets, and its formats for other tools.

May import: storage.
Exports: `Network`, `Explanation`, `EDGE_COLUMNS`, `GRADES`, `grades_of`.
"""

from __future__ import annotations

from rcweb.network.explanation import Explanation
from rcweb.network.grades import GRADES, grades_of
from rcweb.network.network import EDGE_COLUMNS, Network

__all__ = ["EDGE_COLUMNS", "GRADES", "Explanation", "Network", "grades_of"]
