"""Activities that sum to a constant: clusters, proportions, mixtures.

With P such activities a centred table has P - 1 directions, which hold differences of regulators
and none of the regulators themselves: the mean has the direction that is lost. A regulator of any
other table is one with the means too. So a table whose zeros look exact may be of this kind if
columns are gone once the means are a direction more. It is then searched again as it is, not
centred, with one direction more. That is the answer if more columns recur in it than it shares
with the centred table, beside the means: offsets without a meaning add one at most, themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rcweb.engine.condensed import CondensedTable
from rcweb.engine.conventions import CLEARLY
from rcweb.engine.samples import Samples
from rcweb.engine.search.found import Found
from rcweb.engine.search.halves import STREAM
from rcweb.engine.search.space import AGREED, ENOUGH, Space
from rcweb.engine.search.start import search_cheaply
from rcweb.engine.spectrum import Spectrum
from rcweb.engine.types import Array, Mask

CONSTANT_SUM_NOTE = (
    "Activities sum to a constant, as in clusters or proportions: the means of the variables were "
    "kept (center=False), since centring would lose one regulator and mix the others."
)


@dataclass(frozen=True)
class Uncentred:
    """A centred table as it was: the means (N,) that were taken off, and how to make it again."""

    mean: Array
    make: Callable[[], tuple[CondensedTable, Samples]]


def may_be_asked(space: Space, found: Found) -> bool:
    """Whether columns can tell. With much noise, or few variables in the halves, most do not recur
    in any case."""
    enough = space.N >= 2 * ENOUGH * space.K
    return bool(found.exact and not space.blurred and enough)


def beyond_directions(mean: Array, spectrum: Spectrum) -> Array | None:
    """What the means (N,) hold beyond the directions of the centred table; None if it is no more
    than noise leaves in a mean of M samples."""
    scaled = mean * spectrum.factor
    beyond = scaled - spectrum.V @ (spectrum.V.T @ scaled)
    noise = max(len(mean) - len(spectrum.s), 1) * spectrum.sigma**2 / spectrum.table.M
    return np.asarray(beyond) if beyond @ beyond > CLEARLY * noise else None


def centring_suspected(spectrum: Spectrum, found: Found, beyond: Array) -> bool:
    """Whether centring may have mixed the regulators: columns are gone when the means are a
    direction more, `beyond` (N,) the others. Two at least, since the means may bend a column that
    is like them; three parts that sum to a constant differ by two."""
    length = float(np.linalg.norm(beyond))
    V = np.column_stack([spectrum.V, beyond / length])
    s = np.append(spectrum.s, length * np.sqrt(spectrum.table.M))
    wide = Space.of(V, s, spectrum.sigma)
    columns = search_cheaply(wide, np.random.default_rng([STREAM, 3]))
    B = found.columns.B
    gone = ~_among(np.column_stack([B, np.zeros(len(B))]), columns.B)
    return bool(gone.sum() >= 2)


def needs_mean(whole: Found, rows: Array, centred: Found, centred_rows: Array) -> bool:
    """Whether most columns recur with the means, and more than are shared with the centred table,
    the means themselves and one that came by chance left aside; `rows` (n, N) are those of the
    columns. Of few samples hardly any two searches share columns."""
    shared = _among(_unit(centred_rows), _unit(rows))
    half = len(whole.score) / 2
    return whole.n_recurrent() > max(centred.n_recurrent(shared) + 2, half)


def _among(B: Array, others: Array) -> Mask:
    """(n,) unit rows of `B` that are one of the `others`."""
    return np.asarray(np.abs(B @ others.T).max(axis=1) > AGREED)


def _unit(rows: Array) -> Array:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))
