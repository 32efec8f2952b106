"""From a public table to named regulators and a page that shows them (paper, section 4.4)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from rcweb.engine.types import Array
from rcweb.knowledge import enrich, format_p, name_regulators, overlap_test
from rcweb.knowledge.genesets import GeneSets
from rcweb.lab.applications.page import page_html
from rcweb.lab.benchmark.curves import ALPHA, strongest
from rcweb.lab.benchmark.fits import Z_CUT
from rcweb.lab.datasets import Dataset
from rcweb.network import Network
from rcweb.storage.atomic import write_text


@dataclass(frozen=True, eq=False)
class Application:
    """What an application found; the same is written to `folder`.

    model : the fitted estimator
    names : table of `name_regulators`, one row per regulator
    figure5 : the paper's figure 5: regulators with a known partner, the most significant first
    comparison : known regulators met by this network and by others, at Bonferroni 0.05
    seconds : of the whole run
    """

    model: Any
    names: pd.DataFrame
    figure5: pd.DataFrame
    comparison: pd.DataFrame
    seconds: float
    folder: Path


def run_application(data: Dataset, out: Path, model: Any, *, compare: bool = True) -> Application:
    """Fit `model` to `data`, name its regulators, compare, write tables and a page to `out`.

    compare : also run FastICA with as many components, targets at |z| > 3, on the table as it is
        and with every gene at unit variance; see `compare_networks`
    """
    start = time.perf_counter()
    model.fit(data.expression)
    network: Network = model.network_
    names = name_regulators(
        model, data.known, terms=data.terms, X=data.expression, signs="apart", alpha=ALPHA
    )
    comparison = compare_networks(data, model, fastica=compare)
    result = Application(
        model=model,
        names=names,
        figure5=_figure5(network, names, data.terms),
        comparison=comparison,
        seconds=time.perf_counter() - start,
        folder=Path(out),
    )
    _write(result, data)
    return result


def known_regulators_met(
    weights: Array, known: GeneSets, targets: list[str], random_state: int = 0
) -> dict[str, int]:
    """Edges, known regulators and pairs significant at Bonferroni 0.05, each sign a set of its own.

    `permuted` is the number of known regulators met after the names of the variables are shuffled:
    what chance gives.
    """
    shuffled = np.random.default_rng(random_state).permutation(len(targets))

    def significant(C: Array) -> NDArray[np.bool_]:
        result = overlap_test(C, known, targets=targets, signs="apart")
        return result.log_bonferroni <= np.log(ALPHA)

    hits = significant(weights)
    return {
        "edges": int(np.count_nonzero(weights)),
        "known_regulators": int(hits.any(axis=0).sum()),
        "pairs": int(hits.sum()),
        "regulators_matched": int(hits.reshape(len(weights), 2, -1).any(axis=(1, 2)).sum()),
        "permuted": int(significant(weights[:, shuffled]).any(axis=0).sum()),
    }


def compare_networks(data: Dataset, model: Any, *, fastica: bool = True) -> pd.DataFrame:
    """Known regulators met by the fitted `model` and by others, one row per network.

    Methods choose different numbers of edges. So each rival is compared with the found network cut
    to the rival's number (the strongest by `edge_score_`), and FastICA is also cut to the number
    of the found network.
    """
    networks = {"rcweb": model.network_.weights}
    if data.published is not None:
        published = data.published.to_numpy()
        networks |= {"published": published} | _cut("rcweb", model.network_.score, published)
    if fastica:
        X = data.expression
        spread = X.std(axis=0, ddof=0)
        # Constant genes have no variance to scale to.
        unit = X / spread.where(spread > 0, 1.0)
        refitted = clone(model).fit(unit)
        networks |= _beside_fastica(X, model.network_, "")
        networks |= {"rcweb, unit variance": refitted.network_.weights}
        networks |= _beside_fastica(unit, refitted.network_, ", unit variance")
    targets = list(map(str, data.expression.columns))
    rows = [
        {"network": k, **known_regulators_met(C, data.known, targets)} for k, C in networks.items()
    ]
    return pd.DataFrame(rows)


def _beside_fastica(X: pd.DataFrame, network: Network, note: str) -> dict[str, Array]:
    z = _fastica_z(X.to_numpy(), len(network.regulators))
    rival = np.where(np.abs(z) > Z_CUT, z, 0.0)
    return {
        **_cut(f"rcweb{note}", network.score, rival),
        f"FastICA{note}": rival,
        **_cut(f"FastICA{note}", z, network.weights),
    }


def _cut(name: str, scores: Array, other: Array) -> dict[str, Array]:
    """The strongest entries of `scores`, as many as `other` has edges."""
    n_edges = int(np.count_nonzero(other))
    return {f"{name}, {n_edges:,} strongest edges": strongest(scores, n_edges)}


def _fastica_z(X: Array, n_components: int) -> Array:
    from rcweb.lab.baselines import ica

    C = ica.fit(X, n_components, random_state=0, fun="logcosh").network
    return np.asarray((C - C.mean(axis=1, keepdims=True)) / C.std(axis=1, keepdims=True))


def _figure5(network: Network, names: pd.DataFrame, terms: GeneSets) -> pd.DataFrame:
    """Regulator, known regulator, overlap, p, its description, the most enriched term."""
    rows = names[names["name"] != ""].sort_values("log10_p", kind="stable")
    enriched = enrich(network, terms, signs="apart", max_q=ALPHA)
    best = {
        (row["regulator"], row["sign"]): (row["description"] or row["set"], row["log10_p"])
        # Reversed, so that the most significant term of each key is written last and stays.
        for row in reversed(enriched.to_dict("records"))
    }
    found = [best.get(key, ("", 0.0)) for key in zip(rows.index, rows["sign"])]
    return pd.DataFrame(
        {
            "regulator": rows.index,
            "sign": rows["sign"],
            "known_regulator": rows["best_known"],
            "overlap": rows["overlap"],
            "n_targets": rows["n_same_sign"],
            "known_targets": rows["known_size"],
            "p": [format_p(value) for value in rows["log10_p"]],
            "description": rows["description"],
            "term": [label for label, _ in found],
            "term_p": [format_p(value) if label else "" for label, value in found],
        }
    ).reset_index(drop=True)


def _write(result: Application, data: Dataset) -> None:
    folder = result.folder
    tables = {
        "figure5.tsv": result.figure5,
        "regulators.tsv": result.names.rename_axis("regulator").reset_index(),
        "comparison.tsv": result.comparison,
        "network.tsv": result.model.network_.edges(),
    }
    for name, table in tables.items():
        write_text(folder / name, table.to_csv(sep="\t", index=False))
    write_text(
        folder / "index.html",
        page_html(
            data, result.model, result.names, result.figure5, result.comparison, result.seconds
        ),
    )
