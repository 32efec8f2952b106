"""One table of the names of the regulators and the evidence for them (paper, figure 5)."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.stats import binomtest

from rcweb.engine.types import Array
from rcweb.knowledge.enrichment import enrich
from rcweb.knowledge.genesets import GeneSets
from rcweb.knowledge.labels import as_network
from rcweb.knowledge.sets import Overlaps, overlap_test
from rcweb.network import Network


def name_regulators(
    network: Any,
    known: GeneSets,
    *,
    terms: GeneSets | None = None,
    X: Any = None,
    signs: str = "together",
    alpha: float = 0.05,
    n_terms: int = 3,
    min_size: int = 5,
) -> pd.DataFrame:
    """Name regulators after known ones; one row per regulator, indexed by its id.

    network : fitted ``RCweb`` (its `diagnosis_` is joined), `Network` or DataFrame of weights
    known : target sets of known regulators
    terms : GO or other sets for the column top_terms
    X : the data the model was fitted to; gives the columns variance_share and identifiability
    signs : as in `overlap_test`
    alpha : level of the test that decides on names, and of terms
    n_terms : how many terms to list
    min_size : known sets with fewer members in the table are left out

    The columns are

    name : that of `best_known` where the overlap is significant (Bonferroni at `alpha`), else "".
        Of several regulators with the same one the most significant has the plain name, the others
        are numbered: fur, fur-2, fur-3. Names are unique
    best_known, sign, overlap, known_size, p, q, bonferroni, log10_p, description : the known set
        with the most significant overlap; the numbers beside a name are always its own
    n_targets : number of edges; n_same_sign : those among which the overlap was counted, edges of
        this `sign` when signs are apart
    orientation : +1 if the activity rises with that of the known regulator, -1 if it falls, 0 if
        the data do not say: a sign test over the common targets
    top_terms : up to `n_terms` enriched terms, the most significant first
    variance_share : share of the variance of X that the regulator alone accounts for
    identifiability : share of its activity's variance that no other regulators reproduce

    Examples
    --------
    >>> from rcweb import RCweb
    >>> from rcweb.knowledge import GeneSets, name_regulators
    >>> from rcweb.simulate import simulate
    >>> truth = simulate(100, 80, 4, random_state=0)
    >>> known = {f"TF{p}": [f"x{i}" for i in truth.edges[p].nonzero()[0]] for p in range(4)}
    >>> model = RCweb(4).fit(truth.data)
    >>> names = name_regulators(model, GeneSets.from_dict(known))
    >>> names[["name", "overlap", "known_size"]]
              name  overlap  known_size
    regulator
    rcweb0     TF1       10          10
    rcweb1     TF0        9           9
    rcweb2     TF2        7           8
    rcweb3     TF3        6           6
    >>> model = model.set_names(names["name"])
    """
    net = as_network(network)
    # One test for all: the correction counts every pair of regulator and known set.
    overlaps = overlap_test(net, known, signs=signs, min_size=min_size)
    table = _best_known(overlaps, net)
    table.insert(0, "name", _names(table, alpha))
    table["n_targets"] = (net.weights != 0).sum(axis=1)
    table["orientation"] = [
        orientation(net, regulator, overlaps.sets, str(best), alpha) if name else 0
        for regulator, name, best in zip(net.regulators, table["name"], table["best_known"])
    ]
    if terms is not None:
        table["top_terms"] = _top_terms(net, terms, signs, alpha, n_terms)
    if X is not None:
        activities = network.transform(X)
        table["variance_share"] = variance_share(activities, net.weights, np.asarray(X, float))
        table["identifiability"] = identifiability(activities)
    diagnosis = getattr(network, "diagnosis_", None)
    if diagnosis is not None:
        table = table.join(diagnosis[diagnosis.columns.difference(table.columns, sort=False)])
    return table


def _best_known(overlaps: Overlaps, net: Network) -> pd.DataFrame:
    best = overlaps.best_sets().sort_values("log10_p", kind="stable")
    # The more significant of the two rows when signs are apart.
    best = best.drop_duplicates("regulator").set_index("regulator").reindex(list(net.regulators))
    best = best.rename(columns={"set": "best_known", "set_size": "known_size"})
    best = best.rename(columns={"n_targets": "n_same_sign"})
    columns = ["best_known", "sign", "overlap", "n_same_sign", "known_size"]
    best = best[[*columns, "p", "q", "bonferroni", "log10_p", "description"]]
    # A best set without a common target is no candidate at all.
    nothing = ~(best["overlap"] > 0)
    best.loc[nothing, ["best_known", "sign", "description"]] = ""
    counts = dict.fromkeys(["overlap", "n_same_sign", "known_size"], 0)
    chances = {"p": 1.0, "q": 1.0, "bonferroni": 1.0, "log10_p": 0.0}
    return best.fillna(counts | chances).astype(dict.fromkeys(counts, int))


def _names(table: pd.DataFrame, alpha: float) -> pd.Series:
    """Unique names after the best known set, the most significant regulator of each first."""
    sure = table[(table["best_known"] != "") & (table["bonferroni"] <= alpha)]
    taken = set(sure["best_known"])
    names = pd.Series("", index=table.index, dtype=object)
    for known, rows in sure.groupby("best_known", sort=False):
        ranked = rows.sort_values("log10_p", kind="stable").index
        names[ranked[0]] = str(known)
        # The numbered name may already belong to a known regulator that is called "fur-2".
        numbered = (f"{known}-{k}" for k in count(2) if f"{known}-{k}" not in taken)
        for regulator, name in zip(ranked[1:], numbered):
            names[regulator] = name
    return names


def _top_terms(net: Network, terms: GeneSets, signs: str, alpha: float, n_terms: int) -> list[str]:
    enriched = enrich(net, terms, signs=signs, max_q=alpha)
    # With signs apart a term may be enriched on both sides; list it once.
    enriched = enriched.drop_duplicates(["regulator", "set"])
    label = enriched["description"].where(enriched["description"] != "", enriched["set"])
    top = label.groupby(enriched["regulator"], sort=False).apply(
        lambda names: "; ".join(names.head(n_terms))
    )
    return [str(top.get(regulator, "")) for regulator in net.regulators]


def orientation(
    net: Network, regulator: str, known: GeneSets, name: str, alpha: float = 0.05
) -> int:
    """Sign that makes activity positive where the known regulator is active; 0 if undecided.

    Each common target votes with the sign of its weight times the known sign (+1 activation, -1
    repression), or with the sign of its weight alone where no signs are known, since most target
    lists are of activation. The majority counts if a two-sided sign test at `alpha` supports it.
    """
    s, p = known.names.index(name), net.regulators.index(regulator)
    position = {target: n for n, target in enumerate(net.targets)}
    weights = np.array([net.weights[p, position[m]] for m in known.members[s]])
    signs = np.ones(len(weights)) if known.weights is None else np.sign(known.weights[s])
    # A known member that is no target has weight 0 and does not vote.
    votes = np.sign(weights) * signs
    up, down = int((votes > 0).sum()), int((votes < 0).sum())
    if up + down == 0 or binomtest(up, up + down).pvalue > alpha:
        return 0
    return 1 if up > down else -1


def named_activities(activities: Any, names: pd.DataFrame, samples: Any = None) -> pd.DataFrame:
    """Activities under the names of their regulators, known activation positive.

    activities : (samples, regulators), array or DataFrame
    names : the table of `name_regulators`; regulators without a name keep their id, and those
        whose orientation is unknown keep their sign
    samples : names of the samples; default: the index of the activities

    Examples
    --------
    >>> import pandas as pd
    >>> from rcweb.knowledge import named_activities
    >>> names = pd.DataFrame({"name": ["fur", ""], "orientation": [-1, 0]}, ["rcweb0", "rcweb1"])
    >>> named_activities([[1.0, 2.0]], names, samples=["s1"])
        fur  rcweb1
    s1 -1.0     2.0
    """
    values = pd.DataFrame(activities)
    if values.shape[1] != len(names):
        raise ValueError(f"{values.shape[1]} columns of activities, {len(names)} named regulators.")
    signs = names["orientation"].replace(0, 1).to_numpy()
    labels = names["name"].where(names["name"] != "", names.index.to_series())
    index = values.index if samples is None else samples
    return pd.DataFrame(values.to_numpy() * signs, index=index, columns=list(labels))


def variance_share(activities: Any, weights: Array, X: Array) -> Array:
    """Share of the variance that every regulator alone accounts for, (P,).

    activities : (samples, regulators)
    weights : (regulators, variables)
    X : (samples, variables) the data; missing values are left out of the total

    ``||R_p||^2 ||C_p||^2 / ||G0||^2`` with R and G0 centred. Shares add up to the variance
    explained only if activities are uncorrelated.

    Examples
    --------
    >>> import numpy as np
    >>> from rcweb.knowledge import variance_share
    >>> R, C = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 2.0], [0.0, -2.0]]), np.eye(2)
    >>> variance_share(R, C, R @ C)
    array([0.2, 0.8])
    """
    return share_of_variance(activities, weights, total_variance(X))


def total_variance(X: Any) -> float:
    """``||G0||^2`` of a dense or sparse table, centred, over what was measured."""
    if sparse.issparse(X):
        # Centring would make the table dense; the sum of squares needs no centred copy.
        mean = np.asarray(X.mean(axis=0)).ravel()
        return float(X.multiply(X).sum() - X.shape[0] * (mean**2).sum())
    return float(np.nansum((X - np.nanmean(X, axis=0)) ** 2))


def share_of_variance(activities: Any, weights: Array, total: float) -> Array:
    """`variance_share` where the `total` variance is known instead of the table."""
    # One memory order: sums over another one differ in the last bits.
    R = np.ascontiguousarray(activities, dtype=np.float64)
    power = ((R - R.mean(axis=0)) ** 2).sum(axis=0) * (weights**2).sum(axis=1)
    return power / total if total > 0 else np.zeros(len(power))


def identifiability(activities: Any) -> Array:
    """Share of the variance of every activity that the others do not reproduce, (P,).

    activities : (samples, regulators)

    ``1 - R^2`` of the regression on all others; 1 = unlike any mixture of them. The reciprocal of
    the variance inflation factor. With no more samples than regulators any activity is a mixture of
    the others: 0.

    Examples
    --------
    >>> import numpy as np
    >>> from rcweb.knowledge import identifiability
    >>> R = np.random.default_rng(0).normal(size=(50, 2))
    >>> identifiability(np.column_stack([R, R[:, 0] + 0.1 * R[:, 1]])).round(2)
    array([0., 0., 0.])
    """
    R = np.ascontiguousarray(activities, dtype=np.float64)
    M, P = R.shape
    centred = R - R.mean(axis=0)
    norm = np.linalg.norm(centred, axis=0)
    result = np.zeros(P)
    alive = np.flatnonzero(norm > 0)
    # Centred activities span at most M - 1 dimensions.
    if len(alive) > M - 1 or not len(alive):
        return result
    unit = centred[:, alive] / norm[alive]
    # |component orthogonal to the others|^2 = 1 / [(R^T R)^-1]_pp, from the triangle of QR.
    triangle = np.linalg.qr(unit, mode="r")
    # Columns are unit vectors: a diagonal this small is a dependent activity, and rounding decides
    # which; all are reported as not identifiable.
    if np.abs(np.diag(triangle)).min() < 1e-10:
        return result
    inverse = np.linalg.inv(triangle)
    result[alive] = 1 / (inverse**2).sum(axis=1)
    return result
