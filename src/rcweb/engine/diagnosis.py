"""What a fit rests on, per regulator and as a whole, in numbers and plain sentences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rcweb.engine.search.search import Found, own_share
from rcweb.engine.solution import Records
from rcweb.engine.spectrum import Spectrum
from rcweb.engine.types import Array

ILL_CONDITIONED = 1e3


def diagnose(
    spectrum: Spectrum,
    found: Found,
    keep: NDArray[np.intp],
    edges: NDArray[np.bool_],
    agreement: Array | None,
) -> Records:
    """One record per regulator kept.

    edges, zeros : how many targets, and how many non-targets the regulator rests on
    noise_ratio : smallest singular value of ``W_omega0`` (W = V S) over what noise gives,
        ``sqrt(zeros) sigma``; near 1 when the zeros are zeros, larger when they only are small
    gap : second smallest singular value over the smallest; near 1 = another column would do too
    score, chance : sparseness found, and the best that the same search finds in noise
    share : length of the column that no other column explains
    agreement : correlation with its counterpart from a second seed (quality "high")
    certified, identifiable : sparser than chance; and with enough zeros, and a gap (which small
        effects everywhere close, so that it says nothing in a diffuse table)
    """
    W = spectrum.V * spectrum.s
    gram = W.T @ W
    share = own_share(found.columns.B)
    records = []
    for k, targets in zip(keep, edges):
        zeros = int((~targets).sum())
        smallest, second = _smallest_two(gram - W[targets].T @ W[targets])
        noise = max(np.sqrt(zeros) * spectrum.sigma, 1e-6 * spectrum.s[0])
        gap = second / max(smallest, noise, 1e-300)
        certified = bool(found.certified[k])
        records.append(
            {
                "edges": int(targets.sum()),
                "zeros": zeros,
                "noise_ratio": smallest / noise,
                "gap": gap,
                "score": float(found.score[k]),
                "chance": float(found.chance),
                "share": float(share[k]),
                "agreement": np.nan if agreement is None else float(agreement[k]),
                "certified": certified,
                "identifiable": certified and zeros >= len(gram) and (found.diffuse or gap > 1.05),
            }
        )
    return records


def _smallest_two(gram: Array) -> tuple[float, float]:
    values = np.sqrt(np.maximum(np.linalg.eigvalsh(gram)[:2], 0.0))
    return float(values[0]), float(values[1] if len(values) > 1 else np.inf)


@dataclass(frozen=True)
class Number:
    """Why this many regulators: a small table and one sentence."""

    table: Records
    sentence: str


def explain_number(spectrum: Spectrum, found: Found, P: int, asked: int | str) -> Number:
    """The evidence for P regulators where `asked`, a number or "auto", were asked for.

    How many directions of the table stand above noise is counted, and so told, with "auto" only: a
    search for a given number looks no further than it has to.
    """
    certified, searched = int(found.certified.sum()), len(spectrum.s)
    if isinstance(asked, str):
        basis = {"evidence": "singular values above the edge of noise", "count": spectrum.n_signal}
        why = f"{P} regulators: {spectrum.n_signal} singular values stand above noise"
    else:
        basis = {"evidence": "regulators asked for", "count": asked}
        why = fewer_than_asked(P, asked) or f"{P} regulators, as asked for"
    table = [
        basis,
        {"evidence": "directions searched", "count": searched},
        {"evidence": "columns certified sparser than chance", "count": certified},
        {"evidence": "excess columns discarded", "count": searched - P},
        {"evidence": "regulators kept", "count": P},
        {"evidence": "log-likelihood of the columns", "count": round(found.columns.objective)},
    ]
    discarded = f", {searched - P} were discarded" if searched > P else ""
    sentence = (
        f"{why}; {certified} of {searched} columns are sparser than chance allows{discarded}."
    )
    return Number(table, sentence)


def fewer_than_asked(P: int, asked: int | str) -> str:
    """Why there are fewer regulators than asked for; empty where there are not."""
    if isinstance(asked, str) or asked <= P:
        return ""
    return f"{P} regulators, not the {asked} asked for: singular values drop into noise after {P}"


def whole_fit_warnings(
    found: Found, keep: NDArray[np.intp], edges: NDArray[np.bool_], asked: int | str
) -> tuple[str, ...]:
    """Plain sentences; none when the answer can be trusted."""
    fewer = fewer_than_asked(len(keep), asked)
    notes = [f"{fewer}."] if fewer else []
    doubtful = int((~found.certified[keep]).sum())
    if doubtful:
        notes.append(
            f"{doubtful} of {len(keep)} regulators are no sparser than chance allows "
            "(see `diagnosis_`): do not trust their targets one by one."
        )
    empty = int((~edges.any(axis=1)).sum())
    if empty:
        notes.append(f"{empty} of {len(keep)} regulators have no edge at this error rate.")
    condition = float(np.linalg.cond(found.columns.B))
    if condition > ILL_CONDITIONED:
        notes.append(
            f"Regulators are nearly dependent (condition number {condition:.0f}); ask for fewer."
        )
    if found.diffuse:
        notes.append(
            "Small effects are everywhere in this table: edges are entries that stand out of "
            "their regulator's background, not exact non-zeros."
        )
    return tuple(notes)
