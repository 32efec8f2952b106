"""The result in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from rcweb.network import GRADES
from rcweb.report.data import SIGNIFICANT, Known, Regulator


def with_labels(
    regulators: Sequence[Regulator], given: Mapping[str, str] | None
) -> tuple[Regulator, ...]:
    """Regulators under the names to show: those `given` by id, else their id.

    Without names (None) a regulator gets the name of the known one that it matches. If several
    match the same, the best keeps the plain name and the others get a number (Fur, Fur-2), as in
    `rcweb.knowledge.name_regulators`.
    """
    labels = _names_by_fit(regulators) if given is None else given
    return tuple(replace(r, label=labels.get(r.id, r.id)) for r in regulators)


def _names_by_fit(regulators: Sequence[Regulator]) -> dict[str, str]:
    seen: Counter[str] = Counter()
    labels = {}
    # The best match first: it keeps the plain name.
    for regulator in sorted(regulators, key=lambda regulator: _rank(regulator.known)):
        if regulator.known is not None and regulator.known.fits:
            name = regulator.known.name
            seen[name] += 1
            labels[regulator.id] = name if seen[name] == 1 else f"{name}-{seen[name]}"
    return labels


def _rank(known: Known | None) -> float:
    return 1.0 if known is None or known.p is None else known.p


def with_reasons(regulators: Sequence[Regulator]) -> tuple[Regulator, ...]:
    """Regulators without a name, with the reason for it."""
    return tuple(replace(r, unnamed=_why_unnamed(r)) if r.label == r.id else r for r in regulators)


def _why_unnamed(regulator: Regulator) -> str:
    if regulator.grade == "unconfirmed":
        return "Its edges are not drawn, since it was not found again: nothing to compare."
    if not regulator.targets:
        return "It has no targets that could be compared with known ones."
    if not regulator.candidates:
        return "No known regulator shares a target with it."
    # The best known one of the table, if there is one: it could have given its name.
    called = None if regulator.known is None else regulator.known.name
    best = next((c for c in regulator.candidates if c.name == called), regulator.candidates[0])
    size = "" if best.set_size is None else f" of {best.set_size:,}"
    counted = "" if best.overlap is None else f": {best.overlap:,}{size} known targets"
    chance = "" if best.q is None else f", q = {best.q:.2g}"
    if best.q is None or best.q > SIGNIFICANT:
        return f"Best overlap {best.name}{counted}{chance}: not significant."
    if best.bonferroni is None or best.bonferroni <= SIGNIFICANT:
        return f"Best overlap {best.name}{counted}{chance}: not given as its name."
    return (
        f"Best overlap {best.name}{counted}{chance}; a name needs p <= {SIGNIFICANT} after "
        f"Bonferroni correction, here {best.bonferroni:.2g}."
    )


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
    verb = _verb(len(regulators), explained_variance)
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
    if explained_variance is not None and explained_variance < 0:
        sentences.append("Its predictions lie further from the data than the means do.")
    sentences += _on_grades(regulators) + _on_certainty(regulators) + _on_names(regulators)
    return tuple(sentences)


def _verb(n: int, explained_variance: float | None) -> str:
    """What they do; a share below 0 means that the means alone predict the data better."""
    if explained_variance is None:
        return "act on" if n != 1 else "acts on"
    share = "nothing" if explained_variance < 0 else f"{explained_variance:.0%}"
    return f"explain{'s' * (n == 1)} {share} of the variance of"


def _on_grades(regulators: Sequence[Regulator]) -> list[str]:
    counts = Counter(regulator.grade for regulator in regulators if regulator.grade)
    if not counts:
        return []
    parts = [f"{counts[grade]:,} {grade}" for grade in GRADES if counts[grade]]
    return [f"By grade: {', '.join(parts)}."]


def _on_certainty(regulators: Sequence[Regulator]) -> list[str]:
    p = np.array([value for regulator in regulators for value in regulator.probabilities])
    # Methods without probabilities set all to 1; a sentence on them would mislead.
    if len(p) == 0 or (p == 1).all():
        return []
    return [f"{(p >= 0.95).mean():.0%} of the edges have a probability of 0.95 or more."]


def _on_names(regulators: Sequence[Regulator]) -> list[str]:
    named = [regulator for regulator in regulators if regulator.label != regulator.id]
    if not named:
        any_known = any(regulator.known is not None for regulator in regulators)
        return ["None of them matches a known regulator."] if any_known else []
    named.sort(key=lambda regulator: _rank(regulator.known))
    names = [regulator.label for regulator in named]
    which = ", ".join(names) if len(names) <= 5 else f"best: {', '.join(names[:5])}"
    verb = "has a known name" if len(named) == 1 else "have known names"
    return [f"{len(named):,} of {len(regulators):,} {verb} ({which})."]


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"
