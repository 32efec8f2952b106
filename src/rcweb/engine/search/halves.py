"""Searches of random halves of the variables: what recurs in them is a property of the table.

The variables are the sample on which a row of C is observed, and a correct column b is correct on
any subset of them. So each search starts with one half of the variables alone. If two halves that
share no variable lead to the same column, that is evidence for it. `consensus` continues the
searches with all variables and averages where they end.

Halves and starts come from a fixed random stream, the same for every table and seed, so that the
answer does not depend on `random_state`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rcweb.engine.conventions import FEWEST
from rcweb.engine.samples import participation_ratio
from rcweb.engine.search.joint import normalised
from rcweb.engine.search.space import Space
from rcweb.engine.search.start import search_cheaply, search_shortly
from rcweb.engine.threads import parallel
from rcweb.engine.types import Array

STREAM = 20100513  # seed of the fixed stream, arbitrary
LEAST_POWER = 1e-3  # floor of a direction's power in a half: whitening must not amplify rounding


@dataclass(frozen=True)
class Split:
    """Columns found in two complementary halves of the variables: (K, K) unit rows each."""

    first: Array
    second: Array


def can_be_split(space: Space) -> bool:
    """Whether each half has more variables than columns; else its whitening would be singular."""
    return space.N >= 2 * (space.K + 1)


def search_splits(
    space: Space, numbers: range, *, exact: bool = False, zeros: bool = False
) -> list[Split]:
    """Search both halves of each split: where zeros are `exact` as the whole is, with a start from
    `zeros` too if it had one; elsewhere by a short search, of which the mean of many is taken."""
    halves = [(number, which) for number in numbers for which in (0, 1)]
    found = parallel(lambda half: search_half(space, *half, exact=exact, zeros=zeros), halves)
    return [Split(*both) for both in zip(found[::2], found[1::2])]


def search_half(
    space: Space, number: int, which: int, *, exact: bool = False, zeros: bool = False
) -> Array:
    """Columns found in the first (`which` = 0) or second half of split `number` alone, as unit rows
    in the coordinates of `space`."""
    rng = np.random.default_rng([STREAM, number])
    variables = np.array_split(rng.permutation(space.N), 2)[which]
    rng = rng.spawn(2)[which]
    half, whitening = part(space, variables)
    found = search_cheaply(half, rng, zeros=zeros) if exact else search_shortly(half, rng)
    return np.asarray(normalised(found.B @ whitening))


def part(space: Space, variables: NDArray[np.intp]) -> tuple[Space, Array]:
    """A subset of the variables, whitened by L (K, K): a row b of the part is ``b L`` of the whole.

    Whitening is needed because the search assumes coordinates of unit covariance, and a subset of
    white coordinates is not white.
    """
    X = space.X[variables].astype(np.float64)
    values, vectors = np.linalg.eigh(X.T @ X / len(X))
    # The symmetric root changes the coordinates least, so noise per coordinate stays meaningful.
    L = (vectors / np.sqrt(np.maximum(values, LEAST_POWER))) @ vectors.T
    noise = np.sqrt((L**2).T @ space.noise**2)
    return Space.at(X @ L, noise), np.asarray(L)


def chance_cosine(K: int) -> float:
    """Cosine that the best of K orthogonal directions has with any other by chance."""
    return float(np.sqrt(2 * np.log(K) / K)) if K > 2 else 1.0


def beyond_chance(recurrence: Array, K: int) -> Array:
    """Recurrence rescaled so that 0 is what chance reaches and 1 means equal columns."""
    chance = chance_cosine(K)
    return np.asarray((recurrence - chance) / (1 - chance)) if chance < 1 else 0 * recurrence


def count_recurrent(space: Space, split: Split) -> float:
    """How many columns of the first half the second has too, in squared cosines, beyond chance.

    Those of fewer than three variables do not count: a loud variable has a direction of its own,
    and there is nothing else in it that the other half could find.
    """
    cosine = np.abs(split.first @ split.second.T).max(axis=1)
    power = space.rows(split.first).astype(np.float64) ** 2
    several = participation_ratio(power.sum(axis=1), (power**2).sum(axis=1)) >= FEWEST
    return float((cosine[several] ** 2 - chance_cosine(space.K) ** 2).sum())


def recurrence(B: Array, splits: list[Split]) -> Array:
    """(n,) smallest cosine among a unit row, its match in one half and its match in the other;
    mean over the splits, zero without any.

    The smallest of the three: the row has seen all variables, so its cosines with the two halves
    alone would not be independent evidence.
    """
    least = [np.zeros(len(B))] if not splits else []
    for split in splits:
        one = split.first[np.abs(B @ split.first.T).argmax(axis=1)]
        two = split.second[np.abs(B @ split.second.T).argmax(axis=1)]
        cosines = [(B * one).sum(axis=1), (B * two).sum(axis=1), (one * two).sum(axis=1)]
        least.append(np.abs(cosines).min(axis=0))
    return np.asarray(np.mean(least, axis=0))
