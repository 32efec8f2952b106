"""Activities that sum to a constant: clusters, proportions, mixtures.

With P such activities a centred table has P - 1 directions, which hold differences of regulators
and none of the regulators themselves: the mean has the direction that is lost. A table whose zeros
look exact but of whose regulators few are certified may be of this kind. It is then searched again
as it is, not centred, with one direction more, which the means have. It is the answer if it
certifies clearly more, by regulators that the first search did not have. Where the means are
offsets without a meaning, the regulators are the same with and without them.
"""

from __future__ import annotations

import numpy as np

from rcweb.engine.conventions import CLEARLY, GOOD_PART
from rcweb.engine.search.found import Found
from rcweb.engine.search.space import AGREED, ENOUGH, Space
from rcweb.engine.spectrum import Spectrum
from rcweb.engine.types import Array, Mask

CONSTANT_SUM_NOTE = (
    "Activities sum to a constant, as in clusters or proportions: the means of the variables were "
    "kept (center=False), since centring would lose one regulator and mix the others."
)


def centring_suspected(space: Space, found: Found) -> bool:
    """Whether centring may have mixed the regulators: few are certified. With much noise, or few
    variables in the halves that certify, that is so in any case, and says nothing."""
    few = found.certified.mean() < GOOD_PART
    enough = space.N >= 2 * ENOUGH * space.K
    return bool(found.exact and few and not space.blurred and enough)


def mean_stands_out(mean: Array, spectrum: Spectrum) -> bool:
    """Whether the means (N,) hold a direction beyond those of the centred table, and beyond what
    noise leaves in a mean of M samples."""
    scaled = mean * spectrum.factor
    beyond = scaled - spectrum.V @ (spectrum.V.T @ scaled)
    noise = max(len(mean) - len(spectrum.s), 1) * spectrum.sigma**2 / spectrum.table.M
    return bool(beyond @ beyond > CLEARLY * noise)


def needs_mean(whole: Mask, centred: Mask, agreement: Array) -> bool:
    """Whether the search with means is clearly the better certified one.

    whole, centred : which rows of either search are certified
    agreement : (rows of `whole`, rows of `centred`), correlations
    """
    new = whole & (np.abs(agreement).max(axis=1) < AGREED)
    more = new.sum() > CLEARLY * max(int(centred.sum()), 1)
    return bool(more and whole.mean() >= GOOD_PART)
