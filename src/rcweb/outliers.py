"""Limit the pull of single wild entries of the table.

A low-rank model is fitted to all entries; an entry far outside the scatter of its variable around
that fit would make a direction, then a regulator, of its own. Where such entries are more frequent
than Gaussian noise allows they are moved to a limit; otherwise the table stays as it is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rcweb.spectrum import Spectrum

Array = NDArray[np.float64]

WILD = 5.0  # robust standard deviations beyond which Gaussian noise is not seen
TOO_MANY = 2e-4  # share of wild entries above which they are limited (Gaussian: 6e-7)
LIMIT = 3.0
ALONE = 0.25  # share of a direction in one entry of the table that makes it no signal


def limit_outliers(G0: Array, spectrum: Spectrum) -> tuple[Array, float]:
    """The table with wild entries pulled in (the same object if there are few), and their share."""
    V, R = spectrum.V, (G0 * spectrum.factor) @ spectrum.V
    # A direction of one sample and one variable is itself a wild entry, fitted.
    alone = (R**2).max(axis=0) / spectrum.s**2 * (V**2).max(axis=0) > ALONE
    fit = R[:, ~alone] @ (V[:, ~alone] / spectrum.factor[:, None]).T
    residual = G0 - fit
    scatter = 1.4826 * np.median(np.abs(residual), axis=0)
    known = scatter > 1e-9 * np.sqrt((G0 * G0).mean(axis=0))
    wild = (np.abs(residual) > WILD * scatter) & known
    share = float(wild.mean())
    if share < TOO_MANY:
        return G0, share
    bound = np.where(known, LIMIT * scatter, np.inf)
    limited = fit + np.clip(residual, -bound, bound)
    return limited - limited.mean(axis=0), share
