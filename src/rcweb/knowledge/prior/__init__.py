"""Known targets of regulators as a prior: which lists a table supports, and who else belongs."""

from __future__ import annotations

from rcweb.knowledge.prior.factor import Factor, Variables, list_factor
from rcweb.knowledge.prior.guide import Guidance, guide, new_targets
from rcweb.knowledge.prior.lists import PriorLists, TargetList, group_numbers, read_prior
from rcweb.knowledge.prior.table_evidence import BlindFit, TableEvidence

__all__ = [
    "BlindFit",
    "Factor",
    "Guidance",
    "PriorLists",
    "TableEvidence",
    "TargetList",
    "Variables",
    "group_numbers",
    "guide",
    "list_factor",
    "new_targets",
    "read_prior",
]
