"""The evidence for a fit, per regulator and as a whole, in numbers and plain sentences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rcweb.engine.outliers import TOO_MANY
from rcweb.engine.search.found import Found
from rcweb.engine.search.joint import own_share
from rcweb.engine.searched import Searched
from rcweb.engine.solution import Records
from rcweb.engine.spectrum import Spectrum
from rcweb.engine.types import Array, Mask

ILL_CONDITIONED = 1e3  # conventional: condition number of B at which users are warned


def diagnose(
    spectrum: Spectrum,
    found: Found,
    keep: NDArray[np.intp],
    edges: Mask,
    confirmed: Mask,
) -> Records:
    """One record per regulator kept.

    certified : found again in halves of the variables that share none, searched cold, and in halves
        of the samples where noise is not independent and zeros are exact; told apart from noise and
        from curves of others; docs say how often such a regulator is right
    found : certified, or sparser than chance (where zeros are exact) and the same for any start,
        with at least three targets, and no curve of another one
    frequency : share of the other searches that have it
    error : expected 1 - cosine between this regulator and that of another set of searches
    recurrence : agreement of disjoint halves of the variables, 0 to 1
    edges, zeros : number of targets, and of the non-targets that determine the regulator
    noise_ratio : smallest singular value of ``W_omega0`` (W = V S) over what noise gives,
        ``sqrt(zeros) sigma``; near 1 when zeros are exact, larger when they are only small
    gap : second smallest singular value over the smallest; near 1 = another column fits as well
    score, chance : sparseness found, and the best that the same search reaches by chance
    share : length of the column that no other column explains
    """
    # Weighted by s, noise is the same in all directions, and `noise_ratio` can be compared with 1.
    W = spectrum.V * spectrum.s
    gram = W.T @ W
    share = own_share(found.columns.B)
    certified = found.certified[keep] & confirmed
    records = []
    for n, (k, targets) in enumerate(zip(keep, edges)):
        zeros = int((~targets).sum())
        # W_omega0^T W_omega0 by taking the few targets out, instead of summing the many zeros.
        smallest, second = _smallest_two(gram - W[targets].T @ W[targets])
        # The floor is the accuracy of singular values from a Gram matrix.
        noise = max(np.sqrt(zeros) * spectrum.sigma, 1e-6 * spectrum.s[0])
        records.append(
            {
                "certified": bool(certified[n]),
                "found": bool(confirmed[n]),
                "frequency": float(found.frequency[k]),
                "error": float(found.error[k]),
                "recurrence": float(found.recurrence[k]),
                "edges": int(targets.sum()),
                "zeros": zeros,
                "noise_ratio": smallest / noise,
                "gap": second / max(smallest, noise, 1e-300),
                "score": float(found.score[k]),
                "chance": float(found.chance),
                "share": float(share[k]),
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


def explain_number(searched: Searched, found: Found, P: int, asked: int | str) -> Number:
    """The evidence for P regulators where `asked`, a number or "auto", were asked for, from the
    search and what was `found` of its columns in the end."""
    spectrum, tried, curves = searched.problem.spectrum, searched.tried, searched.curves
    confirmed, certified = int(found.confirmed.sum()), int(found.certified.sum())
    directions = len(spectrum.s)
    if not isinstance(asked, str):
        basis = [{"evidence": "regulators asked for", "count": asked}, *tried]
        why = fewer_than_asked(P, asked) or f"{_regulators(P)}, as asked for"
    elif curves:
        basis = tried
        why = (
            f"{_regulators(P)}: a first search had {curves} curves of other regulators, "
            f"{directions} directions searched again"
        )
    elif tried:
        basis = tried
        noise = "singular values show no edge of noise"
        if not spectrum.no_edge:
            noise = "noise is not independent"
        if spectrum.step:
            noise = "singular values fall by a step, beyond which nothing recurs"
        why = f"{_regulators(P)}: {noise}, {directions} directions searched"
    else:
        basis = [
            {"evidence": "singular values above the edge of noise", "count": spectrum.n_signal}
        ]
        why = f"{_regulators(P)}: {spectrum.n_signal} singular values stand above noise"
    table = [
        *basis,
        {"evidence": "directions searched", "count": directions},
        {"evidence": "columns found", "count": confirmed},
        {"evidence": "columns certified", "count": certified},
        {"evidence": "regulators kept", "count": P},
        {"evidence": "log-likelihood of the columns", "count": round(found.columns.objective)},
    ]
    halved = bool((found.in_samples < 1).any())
    sentence = (
        f"{why}; {confirmed} columns are the same for any start"
        f"{' and in halves of the samples' * halved}, {certified} of them certified"
    )
    # What not every table needs: with none of it a fit takes a few times as long as FastICA.
    steps = (
        (searched.limited.wild >= TOO_MANY, "outliers limited"),
        (bool(tried), "other numbers of directions searched"),
        (searched.with_means, "the table searched with its means"),
        (found.by_zeros, "few directions searched from zeros"),
        (found.thorough, "what a first search missed searched one by one"),
        (halved, "halves of the samples searched"),
        (found.sampled, "the posterior sampled, since it did not converge"),
    )
    extra = [step for taken, step in steps if taken]
    sentence += f"; took longer: {', '.join(extra)}." if extra else "."
    return Number(table, sentence)


def fewer_than_asked(P: int, asked: int | str) -> str:
    """Why there are fewer regulators than asked for; empty where there are not."""
    if isinstance(asked, str) or asked <= P:
        return ""
    return f"{_regulators(P)}, not the {asked} asked for: no more could be told from noise"


def _regulators(P: int) -> str:
    return "1 regulator" if P == 1 else f"{P} regulators"


def dense_factors(found: Found, power: Array, total: float) -> tuple[str, ...]:
    """A sentence on strong directions without a sparse form, nothing if there are none.

    power : (n,) of every row found, `total` : of the table. Strong: above the median regulator.
    """
    good = found.confirmed
    if not good.any():
        return ()
    dense = ~good & (found.score <= max(found.chance, 0.0)) & (power > np.median(power[good]))
    if not dense.any():
        return ()
    # Not their sum: directions are oblique, and explain in part the same.
    n, share = int(dense.sum()), min(float(power[dense].max() / total), 1.0)
    if n == 1:
        what = f"1 strong direction, with {share:.0%} of the variance, has no sparse form"
    else:
        what = f"{n} strong directions, one with {share:.0%} of the variance, have no sparse form"
    return (
        f"{what}: batches or common factors, or regulators that these data do not resolve. No "
        "edges are drawn for them.",
    )


def curves_left_out(curves: int) -> tuple[str, ...]:
    """A sentence on the curves of other regulators that a first search had, if it had any."""
    if not curves:
        return ()
    return (
        f"{curves} columns of a first search were curves of other regulators, with the same "
        "targets, and were left out: effects are not linear (saturation, thresholds, a limit of "
        "detection, or no logs were taken).",
    )


def whole_fit_warnings(
    found: Found, keep: NDArray[np.intp], edges: Mask, confirmed: Mask, asked: int | str
) -> tuple[str, ...]:
    """Plain sentences; none when the answer can be trusted."""
    fewer = fewer_than_asked(len(keep), asked)
    notes = [f"{fewer}."] if fewer else []
    doubtful = int((~confirmed).sum())
    if doubtful == len(keep):
        notes.append(
            "No regulator stands out of chance in this table: none is the same for any start. "
            + _drawn(edges, confirmed)
        )
    elif doubtful:
        notes.append(
            f"{doubtful} of {len(keep)} regulators are neither certified nor found again (see "
            "`diagnosis_`). " + _drawn(edges, confirmed)
        )
    bent = int((~found.straight[keep]).sum())
    if bent:
        notes.append(
            f"{_regulators(bent)} seem{'s' * (bent == 1)} to act by curves: others with the same "
            "targets follow a curve of the same activity, and count as neither certified nor found."
        )
    few = int((~found.in_enough[keep]).sum())
    if few:
        one = few == 1
        notes.append(
            f"{_regulators(few)} {'is' if one else 'are'} active in one or two samples only, whose "
            f"errors look the same, and count{'s' * one} as neither certified nor found."
        )
    left_out = int((~found.in_enough).sum()) - few
    if isinstance(asked, str) and left_out:
        one = left_out == 1
        notes.append(
            f"{_regulators(left_out)} that {'is' if one else 'are'} active in one or two samples "
            f"only, whose errors look the same, {'was' if one else 'were'} left out; ask for a "
            "number of regulators to see them."
        )
    empty = int((~edges.any(axis=1) & confirmed).sum())
    if empty:
        notes.append(f"{empty} of {len(keep)} regulators have no edge at this error rate.")
    condition = float(np.linalg.cond(found.columns.B))
    if condition > ILL_CONDITIONED:
        notes.append(
            f"Regulators are nearly dependent (condition number {condition:.0f}); ask for fewer."
        )
    if not found.exact:
        notes.append(
            "Weights in this table do not drop to zero: an edge is a weight clearly above its "
            "regulator's background."
        )
    return tuple(notes)


def _drawn(edges: Mask, confirmed: Mask) -> str:
    if edges[~confirmed].any():
        return "Their edges are drawn as asked for (doubtful=True); do not rely on them."
    return "Their edges are not drawn; `weights_` and `edge_score_` have them."
