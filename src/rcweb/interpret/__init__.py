"""From numbered regulators to named ones (paper, sections 4.3 and 4.4)."""

from __future__ import annotations

from rcweb.interpret.genesets import GeneSets, read_edges, read_gmt, read_sets
from rcweb.interpret.hypergeometric import format_p
from rcweb.interpret.measured import MeasuredMatch, match_measured
from rcweb.interpret.sets import Overlaps, overlap_test

__all__ = [
    "GeneSets",
    "MeasuredMatch",
    "Overlaps",
    "format_p",
    "match_measured",
    "overlap_test",
    "read_edges",
    "read_gmt",
    "read_sets",
]
