"""From numbered regulators to named ones (paper, sections 4.3 and 4.4)."""

from __future__ import annotations

from rcweb.interpret.genesets import GeneSets, read_edges, read_gmt, read_sets
from rcweb.interpret.hypergeometric import format_p
from rcweb.interpret.sets import Overlaps, overlap_test

__all__ = [
    "GeneSets",
    "Overlaps",
    "format_p",
    "overlap_test",
    "read_edges",
    "read_gmt",
    "read_sets",
]
