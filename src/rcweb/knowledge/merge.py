"""Sets from several sources as one collection."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import count

from rcweb.knowledge.genesets import GeneSets


def merge_sets(parts: Sequence[tuple[str, GeneSets]]) -> GeneSets:
    """Sets from several sources as one collection, with their weights.

    parts : pairs (source, sets)

    A repeated name gets its source appended. If only some parts have weights, members of the other
    parts weigh 1.

    Examples
    --------
    >>> from rcweb.knowledge import GeneSets, merge_sets
    >>> one = GeneSets.from_dict({"fur": ["fepA"], "lexA": ["recA"]})
    >>> merge_sets([("RegulonDB", one), ("ChIP", GeneSets.from_dict({"fur": ["entC"]}))]).names
    ('fur', 'lexA', 'fur (ChIP)')
    """
    names: dict[str, None] = {}
    for origin, sets in parts:
        for name in sets.names:
            names[_free(f"{name} ({origin})", names) if name in names else name] = None
    # Weights of one source must not be lost because another has none.
    weighted = any(sets.weights is not None for _, sets in parts)
    weights = tuple(numbers for _, sets in parts for numbers in sets.weights_or_ones())
    return GeneSets(
        names=tuple(names),
        descriptions=tuple(text for _, sets in parts for text in sets.descriptions),
        members=tuple(members for _, sets in parts for members in sets.members),
        weights=weights if weighted else None,
    )


def _free(name: str, taken: Collection[str]) -> str:
    """The name, with a number appended if it is already used."""
    # Lazy and endless; `next` stops at the first free number.
    candidates = (name if k == 1 else f"{name} {k}" for k in count(1))
    return next(candidate for candidate in candidates if candidate not in taken)
