"""The result in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from rcweb.report.data import Known, Regulator


def with_labels(regulators: Sequence[Regulator], given: Mapping[str, str]) -> tuple[Regulator, ...]:
    """Regulators under the names to show.

    That is the name `given` for the id; else that of the known regulator where it fits, with a
    number where several fit the same one, the best match first; else the id.
    """
    similar: dict[str, list[Regulator]] = {}
    for regulator in regulators:
        if regulator.id not in given and regulator.known is not None and regulator.known.fits:
            similar.setdefault(regulator.known.name, []).append(regulator)
    labels = dict(given)
    for name, members in similar.items():
        first = 2 if name in given.values() else 1
        alone = len(members) == 1 and first == 1
        members.sort(key=lambda regulator: _rank(regulator.known))
        for k, regulator in enumerate(members, start=first):
            labels[regulator.id] = name if alone else f"{name}-{k}"
    return tuple(replace(r, label=labels.get(r.id, r.id)) for r in regulators)


def _rank(known: Known | None) -> float:
    return 1.0 if known is None or known.p is None else known.p


def summarise(
    regulators: Sequence[Regulator],
    *,
    n_genes: int,
    n_samples: int,
    explained_variance: float | None,
) -> tuple[str, ...]:
    """Sentences on the fit, the headline first."""
    degrees = [len(regulator.targets) for regulator in regulators]
    if not sum(degrees):
        return (f"No regulator was found for {n_genes:,} variables over {n_samples:,} samples.",)
    verb = "act on" if len(regulators) != 1 else "acts on"
    if explained_variance is not None:
        verb = f"explain{'s' * (len(regulators) == 1)} {explained_variance:.0%} of the variance of"
    headline = (
        f"{_count(len(regulators), 'hidden regulator')} {verb} "
        f"{n_genes:,} variables over {n_samples:,} samples."
    )
    targets = {target for regulator in regulators for target in regulator.targets}
    sentences = [
        headline,
        f"The network has {_count(sum(degrees), 'edge')} to {_count(len(targets), 'variable')}; "
        f"half of the regulators have {int(np.median(degrees)):,} targets or more, "
        f"the largest has {max(degrees):,}.",
    ]
    sentences += _on_certainty(regulators) + _on_names(regulators)
    return tuple(sentences)


def _on_certainty(regulators: Sequence[Regulator]) -> list[str]:
    p = np.array([value for regulator in regulators for value in regulator.probabilities])
    if len(p) == 0 or (p == 1).all():
        return []
    return [f"{(p >= 0.95).mean():.0%} of the edges have a probability of 0.95 or more."]


def _on_names(regulators: Sequence[Regulator]) -> list[str]:
    if all(regulator.known is None for regulator in regulators):
        return []
    named = [known for regulator in regulators if (known := regulator.known) and known.fits]
    if not named:
        return ["None of them matches a known regulator."]
    named.sort(key=_rank)
    names = list(dict.fromkeys(known.name for known in named))
    which = ", ".join(names) if len(names) <= 5 else f"best: {', '.join(names[:5])}"
    verb = "matches" if len(named) == 1 else "match"
    return [f"{len(named):,} of {len(regulators):,} {verb} a known regulator ({which})."]


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"
