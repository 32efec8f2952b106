"""Known lists of the real tables, as positions of variables; operons, signs and regulators."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from rcweb.engine.types import Array, Ints
from rcweb.knowledge import GeneSets, read_edges, read_gmt
from rcweb.lab.datasets.files import required_data_folder

# Fewer leave too few on either side of a split.
FEWEST_MEMBERS = 10

ECOLI, YEAST, MTB, SAUR = (
    "ecoli_precise/expression.parquet",
    "yeast_m3d_s98/expression.parquet",
    "mtb_modulome/expression.parquet",
    "saur_imodulon/X.parquet",
)
# Tables of genes, with the columns that tell the operon and the common name.
GENES = {ECOLI: "ecoli_precise/genes.tsv.gz", SAUR: "saur_imodulon/gene_table.tsv.gz"}
# Where names of genes are shared: whose lists are shown on whose table.
OTHER_SETS = {
    ECOLI: (SAUR, "saur_imodulon/regulons.gmt"),
    SAUR: (ECOLI, "ecoli_precise/regulons.gmt"),
}
SIGNED_SETS = {ECOLI: "ecoli_precise/trn_regulondb.tsv.gz"}
# Why a table has no groups that could be hidden as a whole.
NO_GROUPS = {YEAST: "yeast transcribes its genes one by one: there are no operons to hide"}

LOCUS = re.compile(r"[Rr][Vv](\d{4})([A-Fabd]?)(c?)")


@dataclass(frozen=True)
class KnownLists:
    """L lists over N variables.

    names : L names
    members : positions of the measured members of each, increasing
    signs : +1, -1 or 0 (unknown) for every member, or None
    """

    names: tuple[str, ...]
    members: tuple[Ints, ...]
    signs: tuple[Array, ...] | None = None


def known_lists(sets: GeneSets, variables: Sequence[str], signed: bool = False) -> KnownLists:
    """The sets with at least 10 measured members."""
    kept = sets.within(variables, FEWEST_MEMBERS)
    place = {name: n for n, name in enumerate(variables)}
    members, signs = [], []
    for names, weights in zip(kept.members, kept.weights_or_ones()):
        at = np.array([place[name] for name in names], np.int64)
        order = np.argsort(at)
        members.append(at[order])
        signs.append(np.sign(weights)[order])
    return KnownLists(kept.names, tuple(members), tuple(signs) if signed else None)


def read_known(table: str, sets: str, variables: Sequence[str], condition: str) -> KnownLists:
    """The lists that a condition starts from: the table's own, signed, or another organism's."""
    folder = required_data_folder()
    if condition in ("signs", "shuffled signs"):
        return known_lists(read_edges(folder / SIGNED_SETS[table]), variables, signed=True)
    if condition == "other organism":
        return known_lists(_translated(table), variables)
    return known_lists(read_gmt(folder / sets), variables)


def _translated(table: str) -> GeneSets:
    """Another organism's lists, genes of the same name put in the place of its own."""
    other, sets = OTHER_SETS[table]
    theirs = _genes(other)["gene_name"].dropna().str.lower()
    ours = _genes(table)["gene_name"].dropna().str.lower()
    # The first gene of a name; a second copy would count one gene twice.
    named = {str(name): str(gene) for gene, name in reversed(list(ours.items()))}
    rename = {str(gene): named[name] for gene, name in theirs.items() if name in named}
    given = read_gmt(required_data_folder() / sets)
    return GeneSets.from_dict(
        {
            name: [rename[gene] for gene in members if gene in rename]
            for name, members in zip(given.names, given.members)
        }
    )


def _genes(table: str) -> pd.DataFrame:
    return pd.read_csv(required_data_folder() / GENES[table], sep="\t", index_col=0)


def operons(table: str, variables: Sequence[str]) -> Ints | None:
    """(N,) number of the operon of each variable, or None where there are none.

    M. tuberculosis has no map here: all neighbours on the same strand count as one operon, so that
    no real operon is divided.
    """
    if table in GENES:
        known = _genes(table)["operon"].dropna().to_dict()
        # A gene without a known operon is a group of its own.
        return _numbers([(known.get(v, ""), "" if v in known else v) for v in variables])
    return same_strand_runs(variables) if table == MTB else None


def same_strand_runs(variables: Sequence[str]) -> Ints:
    """(N,) groups of neighbours on one strand, read off locus names such as Rv0123c (c: reverse).

    A lower-case letter names a gene that was added later, whose strand the name does not tell: it
    joins the run before it. Other names are groups of their own.
    """
    loci = {name: found for name in variables if (found := LOCUS.fullmatch(name))}
    group: dict[str, int] = {}
    number, strand = -1, ""
    for name, found in sorted(loci.items(), key=lambda item: item[1].group(1, 2)):
        unknown = found[2].islower()
        now = strand if unknown else found[3] or "+"
        if now != strand:
            number, strand = number + 1, now
        group[name] = max(number, 0)
    for n, name in enumerate(variables):
        group.setdefault(name, len(variables) + n)
    return _numbers([group[name] for name in variables])


def _numbers(labels: Sequence[Hashable]) -> Ints:
    """0, 1, ... in the order in which labels come up."""
    number = {label: k for k, label in enumerate(dict.fromkeys(labels))}
    return np.array([number[label] for label in labels], np.int64)


def own_columns(table: str, names: Sequence[str], variables: Sequence[str]) -> Ints:
    """(L,) column of the regulator a list is named after, -1 if it is not measured."""
    if table not in GENES:
        return np.full(len(names), -1, np.int64)
    genes = _genes(table)["gene_name"].dropna().str.lower()
    place = {name: n for n, name in enumerate(variables)}
    column = {name: place[gene] for gene, name in genes.items() if gene in place}
    return np.array([column.get(name.lower(), -1) for name in names], np.int64)
