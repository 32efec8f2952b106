"""The columns of the scoreboard: what is asked, and its values for every method, unit and seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from rcweb.lab.benchmark.measured import (
    ReadRows,
    certified_right,
    curve_ratio,
    foreign,
    foreign_time,
    organisms,
    planted,
    random,
    real_time,
)

FOREIGN = "foreign/rows.jsonl"
RANDOM = "random/rows.jsonl"
ORGANISMS = "organisms/rows.jsonl"


@dataclass(frozen=True)
class Question:
    """One column.

    rows : where the rows that answer it are, below benchmarks/results
    values : a table of (unit, seed) x method; a unit is a planted cell, a world or a real table
    higher : whether more is better;  digits : to show
    """

    name: str
    asks: str
    rows: str
    values: Callable[[ReadRows], pd.DataFrame]
    higher: bool = True
    digits: int = 3


def questions() -> tuple[Question, ...]:
    """The columns in order."""
    return (
        Question(
            "planted: rho",
            "accuracy on the planted cells of figures 1 to 3 and the other worlds",
            "",
            lambda read: planted(read, "rho"),
        ),
        Question(
            "planted: F1",
            "F1 of edges, same cells (rivals are told the true density)",
            "",
            lambda read: planted(read, "f1"),
        ),
        Question(
            "foreign: rho",
            "accuracy in worlds the model was not made for",
            FOREIGN,
            lambda read: foreign(read, "rho"),
        ),
        Question(
            "foreign: FDR",
            "false edges among those drawn (rivals are told the true density)",
            FOREIGN,
            lambda read: foreign(read, "fdr"),
            higher=False,
        ),
        Question(
            "certified: right",
            "share of certified rows that are right, where rows can be told apart",
            FOREIGN,
            certified_right,
        ),
        Question(
            "random: rho",
            "accuracy in worlds of which every property was drawn at random",
            RANDOM,
            lambda read: random(read, "rho"),
        ),
        Question(
            "random: FDR",
            "false edges there (rivals are told the true density)",
            RANDOM,
            lambda read: random(read, "fdr"),
            higher=False,
        ),
        Question(
            "random: right",
            "share of certified rows that are right there",
            RANDOM,
            lambda read: certified_right(read, "random"),
        ),
        Question(
            "nulls: certified",
            "rows certified in a table without sparse regulators",
            FOREIGN,
            lambda read: foreign(read, "n_certified", nulls=True),
            higher=False,
            digits=1,
        ),
        Question(
            "nulls: edges",
            "edges drawn in a table without sparse regulators",
            FOREIGN,
            lambda read: foreign(read, "n_edges", nulls=True),
            higher=False,
            digits=0,
        ),
        Question(
            "real: regulators",
            "known regulators met, ratio to FastICA's mean, mean over 250 to 16,000 edges",
            ORGANISMS,
            lambda read: curve_ratio(read, "regulators"),
        ),
        Question(
            "real: 500-1,000 edges",
            "the same with 500 and 1,000 edges",
            ORGANISMS,
            lambda read: curve_ratio(read, "regulators", (500, 1000)),
        ),
        Question(
            "real: pairs",
            "significant pairs, ratio to FastICA's mean, mean over 250 to 16,000 edges",
            ORGANISMS,
            lambda read: curve_ratio(read, "pairs"),
        ),
        Question(
            "real: modules",
            "harmonic mean of recovery and relevance, ratio to FastICA's mean, as before",
            ORGANISMS,
            lambda read: curve_ratio(read, "modules"),
        ),
        Question(
            "knock-outs",
            "area for the deleted regulator's component",
            ORGANISMS,
            lambda read: organisms(read, "knockout_area", "whole"),
        ),
        Question(
            "seeds",
            "share of all regulators that agree with those of seed 0 (> .95)",
            ORGANISMS,
            lambda read: organisms(read, "agree_95", "whole"),
        ),
        Question(
            "shuffled",
            "the same after samples and variables are put in another order and signs flipped",
            ORGANISMS,
            lambda read: organisms(read, "agree_95", "shuffled"),
        ),
        Question(
            "halves: known",
            "known regulators met in both halves of the samples",
            ORGANISMS,
            lambda read: organisms(read, "known_again", "halves"),
            digits=1,
        ),
        Question(
            "halves: rows",
            "regulators that match between halves of the samples (> .7)",
            ORGANISMS,
            lambda read: organisms(read, "rows_again", "halves"),
            digits=1,
        ),
        Question(
            "replicates",
            "intraclass correlation of the activities of replicates",
            ORGANISMS,
            lambda read: organisms(read, "replicates", "whole"),
        ),
        Question(
            "time, foreign",
            "seconds of CPU, ratio to FastICA's on the same table (with nulls), log10",
            FOREIGN,
            lambda read: foreign_time(read).apply(np.log10),
            higher=False,
            digits=2,
        ),
        Question(
            "time, real",
            "seconds of CPU on real tables, ratio to FastICA's mean, log10",
            ORGANISMS,
            lambda read: real_time(read).apply(np.log10),
            higher=False,
            digits=2,
        ),
        Question(
            "memory",
            "MB beyond what the process held before the fit, real tables",
            ORGANISMS,
            lambda read: organisms(read, "peak_mb", "whole"),
            higher=False,
            digits=0,
        ),
    )
