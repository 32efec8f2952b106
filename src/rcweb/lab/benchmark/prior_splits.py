"""What is shown of known lists and what is hidden, and what is done to the shown part.

Splits depend on the seed alone, so that methods and conditions are compared on the same ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rcweb.engine.types import Array, Ints, Mask, Rng
from rcweb.lab.benchmark.prior_lists import KnownLists

# Share of false members in the shown list.
FALSE = {"false 30 %": 0.3, "false 50 %": 0.5, "false 60 %": 0.6}
CONDITIONS = (
    "clean",
    *FALSE,
    "random",
    "mixed",
    "permuted",
    "other organism",
    "signs",
    "shuffled signs",
)
FEWEST_SHOWN = 3


@dataclass(frozen=True)
class ListSplit:
    """L lists as a method gets them, and what it is to find.

    source : (L,) number of the known list, -1 for a random or permuted list
    shown : members given, false ones among them
    hidden : members to be found; none where a list was drawn at random
    false : members given that are none
    signs : of the members shown, or None
    n_single : known lists left out because they lie in one group
    """

    source: Ints
    shown: tuple[Ints, ...]
    hidden: tuple[Ints, ...]
    false: tuple[Ints, ...]
    signs: tuple[Array, ...] | None = None
    n_single: int = 0

    @property
    def random(self) -> Mask:
        """(L,) which lists are random."""
        return np.asarray(self.source < 0)


def make_split(
    known: KnownLists, n_variables: int, condition: str, seed: int, groups: Ints | None = None
) -> ListSplit:
    """Split number `seed`. With `groups` (N,) whole groups are hidden, otherwise single members."""
    if condition not in CONDITIONS:
        raise ValueError(f"condition must be one of {', '.join(CONDITIONS)}; not {condition!r}.")
    # Other draws must not change the split.
    rng = np.random.default_rng([seed, CONDITIONS.index(condition) + 1])
    if condition == "permuted":
        order = rng.permutation(n_variables)
        known = KnownLists(known.names, tuple(np.sort(order[members]) for members in known.members))
    split = _halve(known, groups, np.random.default_rng([seed, 0]))
    if condition == "permuted":
        # Nothing true is left of them, but they overlap as the known lists do.
        return replace(split, source=np.full_like(split.source, -1))
    if condition in FALSE:
        return _with_false(split, known, n_variables, FALSE[condition], rng)
    if condition in ("random", "mixed"):
        return _with_random(split, n_variables, groups, condition == "mixed", rng)
    if condition == "shuffled signs":
        return _shuffled(split, rng)
    return split


def _halve(known: KnownLists, groups: Ints | None, rng: Rng) -> ListSplit:
    source, shown, hidden, signs = [], [], [], []
    for k, members in enumerate(known.members):
        hide = half_hidden(members, None if groups is None else groups[members], rng)
        if hide is None:
            continue
        source.append(k)
        shown.append(members[~hide])
        hidden.append(members[hide])
        if known.signs is not None:
            signs.append(known.signs[k][~hide])
    none = tuple(np.zeros(0, np.int64) for _ in source)
    return ListSplit(
        np.array(source, np.int64),
        tuple(shown),
        tuple(hidden),
        none,
        tuple(signs) if known.signs is not None else None,
        len(known.members) - len(source),
    )


def half_hidden(members: Ints, groups: Ints | None, rng: Rng) -> Mask | None:
    """(n,) a random half; with `groups` (n,) whole ones, as near to half of the members as they
    allow. None if fewer than 3 could be shown or none hidden."""
    n = len(members)
    if groups is None:
        groups = np.arange(n)
    labels, which, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    order = rng.permutation(len(labels))
    hidden = np.cumsum(sizes[order])
    # Always at least one group; the nearest to half, rounded down.
    last = int(np.abs(hidden - n // 2).argmin())
    if n - hidden[last] < FEWEST_SHOWN:
        return None
    return np.asarray(np.isin(which, order[: last + 1]))


def _with_false(split: ListSplit, known: KnownLists, N: int, share: float, rng: Rng) -> ListSplit:
    """Add false members until they are `share` of the list, or half of all that could be."""
    shown, false = [], []
    for k, given in zip(split.source, split.shown):
        others = np.setdiff1d(np.arange(N), known.members[k])
        # A list of most variables must leave some that are right not to be found.
        n = min(round(share / (1 - share) * len(given)), len(others) // 2)
        wrong = np.sort(rng.choice(others, n, replace=False))
        false.append(wrong)
        shown.append(np.sort(np.concatenate([given, wrong])))
    return replace(split, shown=tuple(shown), false=tuple(false), signs=None)


def _with_random(split: ListSplit, N: int, groups: Ints | None, keep: bool, rng: Rng) -> ListSplit:
    """A random list of the size of every list shown; the true ones first if they are kept."""
    drawn = tuple(_draw(len(given), N, groups, rng) for given in split.shown)
    none = tuple(np.zeros(0, np.int64) for _ in drawn)
    source = np.full(len(drawn), -1, np.int64)
    if not keep:
        return ListSplit(source, drawn, none, none, None, split.n_single)
    return ListSplit(
        np.concatenate([split.source, source]),
        split.shown + drawn,
        split.hidden + none,
        none + none,
        None,
        split.n_single,
    )


def _draw(size: int, N: int, groups: Ints | None, rng: Rng) -> Ints:
    """`size` random variables; with groups, of as few random groups as hold them."""
    if groups is None:
        return np.sort(rng.choice(N, size, replace=False))
    rank = rng.permutation(int(groups.max()) + 1)[groups]
    return np.sort(np.argsort(rank, kind="stable")[:size])


def _shuffled(split: ListSplit, rng: Rng) -> ListSplit:
    """Signs dealt out anew over all members of all lists."""
    if split.signs is None:
        raise ValueError("these lists have no signs to shuffle.")
    mixed = rng.permutation(np.concatenate(split.signs))
    ends = np.cumsum([len(signs) for signs in split.signs])[:-1]
    return replace(split, signs=tuple(np.split(mixed, ends)))


def judged(split: ListSplit, n_variables: int) -> tuple[NDArray[np.intp], Mask, Mask]:
    """Lists with something hidden (J,); (J, N) variables that count, all but the shown; (J, N)
    hidden members."""
    lists = np.array([k for k, hidden in enumerate(split.hidden) if len(hidden)], np.intp)
    counts = np.ones((len(lists), n_variables), bool)
    hidden = np.zeros((len(lists), n_variables), bool)
    for row, k in enumerate(lists):
        counts[row, split.shown[k]] = False
        hidden[row, split.hidden[k]] = True
    return lists, counts, hidden
