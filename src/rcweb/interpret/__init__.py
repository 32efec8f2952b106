"""From numbered regulators to named ones (paper, sections 4.3 and 4.4)."""

from __future__ import annotations

from rcweb.interpret.enrichment import enrich
from rcweb.interpret.genesets import GeneSets, read_edges, read_gmt, read_sets
from rcweb.interpret.hypergeometric import format_p
from rcweb.interpret.measured import MeasuredMatch, match_measured
from rcweb.interpret.merge import merge_sets
from rcweb.interpret.names import (
    identifiability,
    name_regulators,
    named_activities,
    variance_share,
)
from rcweb.interpret.sets import Overlaps, overlap_test

__all__ = [
    "GeneSets",
    "MeasuredMatch",
    "Overlaps",
    "enrich",
    "format_p",
    "identifiability",
    "match_measured",
    "merge_sets",
    "name_regulators",
    "named_activities",
    "overlap_test",
    "read_edges",
    "read_gmt",
    "read_sets",
    "variance_share",
]
