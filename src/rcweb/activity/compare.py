"""Two fits side by side: other seeds, samples, data sets or organisms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from rcweb.activity.common import common_variables
from rcweb.activity.relations import RELATIONS, Link, PairTests, compare_pairs, link
from rcweb.engine.matching import row_correlation
from rcweb.engine.types import Array, Ints
from rcweb.knowledge.hypergeometric import from_log
from rcweb.knowledge.labels import as_network
from rcweb.network import Network

_SHOWN = 5  # regulators named in a sentence
_COUNTS = ("sign", "edges_a", "edges_b", "overlap")


@dataclass(frozen=True, eq=False)
class Comparison:
    """Which regulators of a network are in another one, and as what.

    table : one row per pair of regulators that belong together and per regulator without a partner,
        strongest first within each relation:

        * a, b : ids; empty where there is no partner
        * relation : "same" (one to one), "split" (one of A, several of B), "merged" (several of A,
          one of B), "regrouped" (several of both), "lost" (of A alone), "new" (of B alone),
          "untested" (too few edges among the common variables for any overlap to be significant)
        * correlation : of the weights over the common variables, signed
        * activity_correlation : over the common samples, after alignment: negative where targets
          agree and activities do not; NaN without common samples
        * sign, scale : the row of B is about ``sign * scale`` times the row of A
        * edges_a, edges_b, overlap : targets among the common variables, and common ones
        * p, q : of the overlap, by chance; Benjamini-Hochberg over all pairs
        * a_name, b_name : names to show
    counts : number of regulators by relation, ``{"same": {"A": 30, "B": 30}, ...}``
    summary : sentences
    names : what the two are called in the sentences
    n_common, n_samples : common variables and samples
    """

    table: pd.DataFrame
    counts: dict[str, dict[str, int]]
    summary: tuple[str, ...]
    names: tuple[str, str]
    n_common: int
    n_samples: int

    def __str__(self) -> str:
        """The sentences, one per line."""
        return "\n".join(self.summary)


def compare(
    a: Any,
    b: Any,
    orthologs: Any = None,
    *,
    activities: tuple[pd.DataFrame, pd.DataFrame] | None = None,
    names: tuple[str, str] = ("A", "B"),
) -> Comparison:
    """Match the regulators of two fits: which are the same, split, merged, lost or new.

    a, b : fitted ``RCweb``, `Network`, or DataFrame of weights (regulators x variables)
    orthologs : which variables of `a` are which of `b`, where names differ: a DataFrame (its first
        two columns), ``{name: name or names}`` or pairs. Genes that pairs join count as one.
    activities : of both, samples x regulators; samples are the same where they are called the same
    names : of the two, for the sentences

    Returns a `Comparison`; ``print`` shows it in sentences. The rule is in docs/compare.md. Order,
    sign and scale of the regulators do not matter. ``compare(b, a)`` says the same with both sides
    exchanged. Raises ValueError for models of arrays of different width: their variables have no
    names.

    Examples
    --------
    >>> from rcweb import RCweb
    >>> from rcweb.activity import compare
    >>> from rcweb.simulate import simulate
    >>> X = simulate(200, 80, 4, random_state=0).data
    >>> print(compare(RCweb(4).fit(X[:100]), RCweb(3).fit(X[100:]), names=("first", "second")))
    3 of the 4 regulators of first and of the 3 of second are the same, one to one, with ...
    1 is in first alone: rcweb3.
    80 variables have the same name in first (80) and second (80).
    """
    first, second = as_network(a), as_network(b)
    _check_named(a, b, first, second)
    common = common_variables(first, second, orthologs, names)
    by_samples, n_samples = _activity_correlation(activities, (first, second))
    pairs = compare_pairs(common.a, common.b, by_samples)
    links = link(pairs)
    table = _table(links, pairs, first, second)
    counts = _counts(links, names)
    sentences = _summary(table, counts, (len(first.regulators), len(second.regulators)), names)
    about_samples = _samples_sentence(table, n_samples, activities is not None)
    return Comparison(
        table=table,
        counts=counts,
        summary=(*sentences, *about_samples, common.note),
        names=names,
        n_common=common.a.shape[1],
        n_samples=n_samples,
    )


def _check_named(a: Any, b: Any, first: Network, second: Network) -> None:
    """Variables of an array are numbered; numbers of tables of different width mean nothing."""
    unnamed = [hasattr(x, "fit") and not hasattr(x, "feature_names_in_") for x in (a, b)]
    if any(unnamed) and (not all(unnamed) or first.shape[1] != second.shape[1]):
        which = "Both models have" if all(unnamed) else f"Model {'AB'[unnamed.index(True)]} has"
        raise ValueError(f"{which} no names of variables to compare by: fit to a DataFrame.")


def _activity_correlation(
    activities: tuple[pd.DataFrame, pd.DataFrame] | None, networks: Sequence[Network]
) -> tuple[Array, int]:
    """(P_a, P_b) correlations over the common samples, NaN without them, and their number."""
    shape = (len(networks[0].regulators), len(networks[1].regulators))
    if activities is None:
        return np.full(shape, np.nan), 0
    frames = [_by_regulator(*pair) for pair in zip(activities, networks)]
    samples = frames[0].index.intersection(frames[1].index, sort=False)
    # Two points always lie on a line.
    if len(samples) < 3:
        return np.full(shape, np.nan), len(samples)
    first, second = (frame.loc[samples].to_numpy(np.float64).T for frame in frames)
    return np.clip(row_correlation(first, second), -1, 1), len(samples)  # rounding may go beyond


def _by_regulator(frame: pd.DataFrame, network: Network) -> pd.DataFrame:
    """Activities with columns in the order of the regulators; names must be unique."""
    table = pd.DataFrame(frame)
    if table.shape[1] != len(network.regulators):
        raise ValueError(
            f"Activities of {table.shape[1]} regulators for a network of {len(network.regulators)}."
        )
    if table.index.has_duplicates:
        twice = table.index[table.index.duplicated()][0]
        raise ValueError(f"Samples are matched by name, and {str(twice)!r} occurs twice.")
    ids = list(network.regulators)
    return table[ids] if set(ids) == set(table.columns) else table


def _table(
    links: Sequence[Link], pairs: PairTests, first: Network, second: Network
) -> pd.DataFrame:
    a, b = (np.array([getattr(x, side) for x in links], dtype=np.intp) for side in "ab")
    group = np.array([x.group for x in links], dtype=np.intp)
    paired = (a >= 0) & (b >= 0)
    columns: dict[str, Any] = {
        "a": _ids(first.regulators, a),
        "b": _ids(second.regulators, b),
        "relation": [x.relation for x in links],
    }

    def of_pairs(values: Array | Ints) -> Array:
        return np.where(paired, values[a, b], np.nan)

    columns |= {
        "correlation": of_pairs(pairs.correlation),
        "activity_correlation": of_pairs(pairs.activity_correlation),
        "sign": of_pairs(np.sign(pairs.correlation)),
        "scale": of_pairs(pairs.scale),
        "edges_a": np.where(a >= 0, pairs.edges_a[a], np.nan),
        "edges_b": np.where(b >= 0, pairs.edges_b[b], np.nan),
        "overlap": of_pairs(pairs.overlap),
        "p": of_pairs(from_log(pairs.log_p)),
        "q": of_pairs(from_log(pairs.log_q)),
        "a_name": _ids(first.regulator_names, a),
        "b_name": _ids(second.regulator_names, b),
    }
    table = pd.DataFrame(columns).astype(dict.fromkeys(_COUNTS, "Int64"))
    log_p = np.where(paired, pairs.log_p[a, b], 0.0)
    rank = np.array([RELATIONS.index(x.relation) for x in links])
    edges = -np.maximum(pairs.edges_a[a] * (a >= 0), pairs.edges_b[b] * (b >= 0))
    # Rows of a group stay together, where the strongest of them stands.
    leader = {g: log_p[paired & (group == g)].min() for g in np.unique(group[paired])}
    lead = np.array([leader.get(g, 0.0) for g in group])
    return table.iloc[np.lexsort((b, a, edges, log_p, group, lead, rank))].reset_index(drop=True)


def _ids(names: Sequence[str], which: Any) -> pd.Series:
    # As objects: pandas 3 keeps text as UTF-8, which has no lone surrogates.
    return pd.Series([names[k] if k >= 0 else None for k in which], dtype=object)


def _counts(links: Sequence[Link], names: tuple[str, str]) -> dict[str, dict[str, int]]:
    def number(relation: str, side: str) -> int:
        return len({getattr(x, side) for x in links if x.relation == relation} - {-1})

    return {r: {names[0]: number(r, "a"), names[1]: number(r, "b")} for r in RELATIONS}


def _summary(
    table: pd.DataFrame,
    counts: dict[str, dict[str, int]],
    sizes: tuple[int, int],
    names: tuple[str, str],
) -> tuple[str, ...]:
    A, B = names
    same = table.loc[table["relation"] == "same", "correlation"].abs()
    spread = f", with a median |correlation| of {same.median():.2f}" if len(same) else ""
    sentences = [
        f"{counts['same'][A]} of the {sizes[0]} regulators of {A} and of the {sizes[1]} of {B} are "
        f"the same, one to one{spread}."
    ]
    n, of = counts["split"], _named(table, "split", "a")
    if n[A]:
        sentences.append(f"{n[A]} of {A} split into {n[B]} of {B}: {of}.")
    n, of = counts["merged"], _named(table, "merged", "b")
    if n[A]:
        sentences.append(f"{n[A]} of {A} merge into {n[B]} of {B}: {of}.")
    n = counts["regrouped"]
    if n[A]:
        sentences.append(f"{n[A]} of {A} and {n[B]} of {B} are grouped differently.")
    for side, relation, where in (("a", "lost", A), ("b", "new", B)):
        if n_alone := counts[relation][where]:
            are = "is" if n_alone == 1 else "are"
            named = _named(table, relation, side)
            sentences.append(f"{n_alone} {are} in {where} alone: {named}.")
    n = counts["untested"]
    if any(n.values()):
        sentences.append(
            f"{n[A]} of {A} and {n[B]} of {B} have too few edges among the common variables to be "
            "compared."
        )
    return tuple(sentences)


def _named(table: pd.DataFrame, relation: str, side: str) -> str:
    rows = table[table["relation"] == relation]
    labels = [
        key if key == name else f"{name} ({key})"
        for key, name in zip(rows[side], rows[f"{side}_name"])
    ]
    labels = list(dict.fromkeys(labels))
    more = f" and {len(labels) - _SHOWN} more" if len(labels) > _SHOWN else ""
    return ", ".join(labels[:_SHOWN]) + more


def _samples_sentence(table: pd.DataFrame, n_samples: int, given: bool) -> tuple[str, ...]:
    if not given:
        return ()
    if n_samples < 3:
        return (f"{n_samples} samples are in both, so activities are not compared.",)
    agreeing = table.loc[table["relation"] == "same", "activity_correlation"]
    if not len(agreeing):
        return (f"{n_samples:,} samples are in both.",)
    return (
        f"Over the {n_samples:,} samples that are in both, activities of the same regulators have "
        f"a median correlation of {agreeing.median():.2f}.",
    )
