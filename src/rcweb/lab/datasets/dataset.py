"""What every public table comes with."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from rcweb.knowledge.genesets import GeneSets


@dataclass(frozen=True, eq=False)
class Dataset:
    """An expression table with what is known about its samples and genes.

    name : of the table
    expression : (samples, genes), float
    samples : one row per sample; `group` is the column to colour by
    genes : one row per measured gene; `symbol` is the name people use
    known : target sets of known regulators, with the regulator described where possible
    terms : functional categories
    source : where it comes from, with licence
    published : (regulators, genes) weights of a published decomposition of the same table, or None
    """

    name: str
    expression: pd.DataFrame
    samples: pd.DataFrame
    genes: pd.DataFrame
    known: GeneSets
    terms: GeneSets
    source: str
    published: pd.DataFrame | None = None
