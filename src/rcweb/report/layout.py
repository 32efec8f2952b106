"""Where the nodes of a network are drawn.

A force layout of thousands of variables is slow and unreadable. Here forces act between regulators
only; every variable lies in the disc of its strongest regulator, those with a single regulator
inside, shared ones at the rim towards their other regulators.
Deterministic: no random start.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from rcweb.engine.types import Array

GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))
DISC_SPACING = 1.0  # distance of neighbouring variables in a disc; everything else is in this unit
FREE_CENTRE = 4  # sites left out in the middle of a disc, for the regulator itself
FLATTENING = 4.0  # pull along y over pull along x: screens are wider than high
PUSH = 0.3  # share of an overlap that one step undoes, on either side
LAYOUT_STEPS = 300


def network_layout(score: Array) -> tuple[Array, Array]:
    """Positions (P, 2) of regulators and (N, 2) of variables from edge scores (P, N), 0 = no edge.

    Variables without an edge get nan.
    """
    strength = np.abs(np.asarray(score, dtype=np.float64))
    P, N = strength.shape
    linked = strength.any(axis=0) if P else np.zeros(N, bool)
    # argmax takes the first of equals, so the drawing is the same every time.
    home = np.where(linked, strength.argmax(axis=0) if P else 0, -1)
    sizes = np.bincount(home[linked], minlength=P)
    radius = DISC_SPACING * (np.sqrt(sizes + FREE_CENTRE) + 1.0)
    regulators = _place_discs(radius, _affinity(strength > 0))
    variables = np.full((N, 2), np.nan)
    for p in range(P):
        members = np.flatnonzero(home == p)
        variables[members] = regulators[p] + _fill_disc(p, members, strength, regulators)
    return regulators, variables


def _affinity(edges: NDArray[np.bool_]) -> Array:
    """Shared targets over the geometric mean of the degrees, (P, P), zero diagonal."""
    E = edges.astype(np.float64)
    degree = np.maximum(E.sum(axis=1), 1)
    A = (E @ E.T) / np.sqrt(np.outer(degree, degree))
    np.fill_diagonal(A, 0)
    return A


def _sunflower(n: int) -> Array:
    k = np.arange(n)
    r, angle = DISC_SPACING * np.sqrt(k + FREE_CENTRE), GOLDEN_ANGLE * k
    return np.column_stack([r * np.cos(angle), r * np.sin(angle)])


def _place_discs(radius: Array, affinity: Array) -> Array:
    """Discs that do not overlap, those with common targets near each other, compact as a whole."""
    P = len(radius)
    xy = _clustered(radius, affinity)
    x, y = xy.T.copy()
    reach = (radius[:, None] + radius[None, :]) * 1.08
    # The constant keeps unrelated discs from drifting away.
    pull = (0.3 * affinity + 0.02) / max(P, 1)
    # A fixed number of steps with cooling; what still overlaps at the end stays so, which only
    # affects the drawing.
    for step in range(LAYOUT_STEPS):
        dx, dy = np.subtract.outer(x, x), np.subtract.outer(y, y)
        distance = np.maximum(np.sqrt(dx * dx + dy * dy), 1e-9)
        gap = distance - reach
        cooling = 1 - step / LAYOUT_STEPS
        tie = np.maximum(gap, 0.0) * pull * cooling / distance
        push = np.minimum(gap, 0.0) * PUSH / distance
        x -= ((tie + push) * dx).sum(axis=1)
        y -= ((FLATTENING * tie + push) * dy).sum(axis=1)
    return np.column_stack([x - x.mean(), y - y.mean()]) if P else xy


def _clustered(radius: Array, affinity: Array) -> Array:
    """First positions (P, 2): every cluster of related regulators has its own rectangle.

    The tree of average linkage divides a rectangle from its root downwards, each part along its
    longer side and in proportion to the area that its discs need.
    """
    P = len(radius)
    xy = np.zeros((P, 2))
    if P < 2:
        return xy
    distance = affinity.max() - affinity
    np.fill_diagonal(distance, 0)
    merges = linkage(squareform(distance, checks=False), "average")[:, :2].astype(int)
    area = np.concatenate([radius**2, np.zeros(P - 1)])
    for n, (a, b) in enumerate(merges):
        area[P + n] = area[a] + area[b]
    # Discs fill about two thirds of their rectangle once they are pushed apart.
    width = np.sqrt(6 * area[-1] * np.sqrt(FLATTENING / 2))
    open_parts = [(2 * P - 2, 0.0, 0.0, width, 6 * area[-1] / width)]
    while open_parts:
        node, x, y, wide, high = open_parts.pop()
        if node < P:
            xy[node] = x + wide / 2, y + high / 2
            continue
        a, b = merges[node - P]
        share = area[a] / area[node]
        if wide >= high:
            open_parts.append((a, x, y, wide * share, high))
            open_parts.append((b, x + wide * share, y, wide * (1 - share), high))
        else:
            open_parts.append((a, x, y, wide, high * share))
            open_parts.append((b, x, y + high * share, wide, high * (1 - share)))
    return xy - xy.mean(axis=0)


def _fill_disc(p: int, members: NDArray[np.intp], strength: Array, centres: Array) -> Array:
    """Offsets of the variables of disc p: strongest private ones inside, shared ones outside."""
    sites = _sunflower(len(members))
    others = strength[:, members] > 0
    others[p] = False
    shared = others.any(axis=0)
    order = np.lexsort((members, -strength[p, members], shared))
    offsets = np.empty_like(sites)
    offsets[order] = sites
    rim = order[len(order) - int(shared.sum()) :]
    if len(rim):
        # Pair rim sites and variables by angle, so that edges leave the disc outwards.
        pull = others[:, rim].T.astype(np.float64) @ centres
        towards = pull / others[:, rim].sum(axis=0)[:, None] - centres[p]
        wanted = np.argsort(np.arctan2(towards[:, 1], towards[:, 0]), kind="stable")
        there = offsets[rim]
        by_angle = np.argsort(np.arctan2(there[:, 1], there[:, 0]), kind="stable")
        offsets[rim[wanted]] = there[by_angle]
    return offsets
