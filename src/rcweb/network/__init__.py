"""The labelled bipartite network from regulators to targets, and its ways out to other tools."""

from __future__ import annotations

from rcweb.network.network import EDGE_COLUMNS, Network

__all__ = ["EDGE_COLUMNS", "Network"]
