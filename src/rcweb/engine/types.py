"""Types of arrays and of noise, for the engine and for everything above it."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Ints = NDArray[np.int64]
Rng = np.random.Generator
# What is known of the noise of a table; see `rcweb.engine.spectrum.Spectrum.noise_kind`.
Noise = Literal["independent", "shared", "unknown"]
