"""From numbered regulators to named ones: gene sets, terms, measurements (paper, section 4).

May import: engine, tables, network, storage. The estimator uses it for known targets.
Exports: the functions listed below.
"""

from __future__ import annotations

from rcweb.knowledge.enrichment import enrich
from rcweb.knowledge.genesets import GeneSets, read_edges, read_gmt, read_sets
from rcweb.knowledge.hypergeometric import format_p
from rcweb.knowledge.measured import MeasuredMatch, match_measured
from rcweb.knowledge.merge import merge_sets
from rcweb.knowledge.names import (
    identifiability,
    name_regulators,
    named_activities,
    variance_share,
)
from rcweb.knowledge.sets import Overlaps, overlap_test

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
