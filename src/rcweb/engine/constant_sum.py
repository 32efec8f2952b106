"""Activities that sum to a constant: clusters, proportions, mixtures.

With P such activities a centred table has P - 1 directions, which hold differences of regulators
and none of the regulators themselves: the mean has the direction that is lost. A table whose zeros
look exact but most of whose columns do not recur in halves of the variables may be of this kind. It
is then searched again as it is, not centred, with one direction more, which the means have. It is
the answer if clearly more columns recur there. Where the means are offsets without a meaning, at
most one more does, the means themselves.
"""

from __future__ import annotations

from rcweb.engine.conventions import CLEARLY
from rcweb.engine.search.found import Found
from rcweb.engine.search.space import ENOUGH, Space
from rcweb.engine.spectrum import Spectrum
from rcweb.engine.types import Array

CONSTANT_SUM_NOTE = (
    "Activities sum to a constant, as in clusters or proportions: the means of the variables were "
    "kept (center=False), since centring would lose one regulator and mix the others."
)


def centring_suspected(space: Space, found: Found) -> bool:
    """Whether centring may have mixed the regulators: most columns do not recur. With much noise,
    or few variables in the halves, that is so in any case, and says nothing. Measured: at most 0.15
    of them with clusters and mixtures, most of them in nearly all other tables."""
    few = found.n_recurrent < len(found.score) / 2
    enough = space.N >= 2 * ENOUGH * space.K
    return bool(found.exact and few and not space.blurred and enough)


def mean_stands_out(mean: Array, spectrum: Spectrum) -> bool:
    """Whether the means (N,) hold a direction beyond those of the centred table, and beyond what
    noise leaves in a mean of M samples."""
    scaled = mean * spectrum.factor
    beyond = scaled - spectrum.V @ (spectrum.V.T @ scaled)
    noise = max(len(mean) - len(spectrum.s), 1) * spectrum.sigma**2 / spectrum.table.M
    return bool(beyond @ beyond > CLEARLY * noise)


def needs_mean(whole: Found, centred: Found) -> bool:
    """Whether clearly more columns recur with the means than without, one more being the means
    themselves."""
    return whole.n_recurrent > CLEARLY * (centred.n_recurrent + 1)
