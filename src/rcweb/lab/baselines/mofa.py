"""MOFA+ (Argelaguet et al. 2018, 2020) through its package `mofapy2`, one view and one group.

Variational Bayes for ``x_i = W z_i + noise`` with noise per variable, z ~ N(0, I) and weights with
a spike and slab and automatic relevance determination per factor.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from typing import Any

import numpy as np

from rcweb.lab.baselines.base import (
    Array,
    MethodRecord,
    PosteriorFactors,
    check_data,
    check_density,
)

MAX_ITER = 1000
MODES = ("fast", "medium", "slow")

RECORDS = (
    MethodRecord(
        name="mofa",
        title="MOFA+, spike-and-slab weights",
        paper="Argelaguet et al. 2020",
        settings=(
            "one Gaussian view of unit variance, spike and slab and ARD on weights, 1,000 "
            "iterations at most, convergence mode fast, all factors kept; scored on posterior means"
        ),
        look=("#2166AC", "*"),
        told="P",
        package="mofapy2",
        slow=True,
    ),
)


def fit(
    data: Array,
    n_components: int,
    *,
    density: float | None = None,
    random_state: int = 0,
    convergence: str = "fast",
    max_iter: int = MAX_ITER,
) -> PosteriorFactors:
    """The manual's settings; `network` holds weights non-zero with probability above 0.5.

    convergence : "fast" (the default of the package), "medium" or "slow". `density` is not used.
    """
    if convergence not in MODES:
        raise ValueError(f"convergence must be one of {', '.join(MODES)}; not {convergence!r}.")
    G0 = check_data(data, n_components)
    check_density(density)
    # The package's option `scale_views`, done here to scale the weights back: its priors expect
    # unit variance (the easy planted table: accuracy 0.87 against 0.78).
    scale = float(G0.std()) or 1.0
    nodes = _train(G0 / scale, n_components, random_state, convergence, max_iter)
    # One view: its weights (N, P), E = E[slab x spike], EB = P(slab).
    weights = nodes["W"].getExpectations()[0]
    W = scale * np.asarray(weights["E"], dtype=np.float64)
    probability = np.asarray(weights["EB"], dtype=np.float64)
    return PosteriorFactors(
        activities=np.asarray(nodes["Z"].getExpectations()["E"], dtype=np.float64),
        network=np.where(probability > 0.5, W, 0.0).T.copy(),
        weights=W.T.copy(),
        probability=probability.T.copy(),
    )


def _train(X: Array, P: int, seed: int, convergence: str, max_iter: int) -> dict[str, Any]:
    """The fitted nodes of the model; what the package prints is kept off the terminal."""
    try:
        from mofapy2.run.entry_point import entry_point
    except ImportError:
        raise ImportError(
            "the rival mofa needs the package mofapy2: pip install mofapy2, or rcweb[bench]."
        ) from None
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = entry_point()
        model.set_data_options(scale_views=False)
        model.set_data_matrix([[X]])
        model.set_model_options(factors=P, spikeslab_weights=True, ard_weights=True)
        # Stops by the package's own test or after max_iter; unconverged posterior means are used as
        # they are. dropR2=None keeps all factors: P is given.
        model.set_train_options(
            iter=max_iter, convergence_mode=convergence, dropR2=None, seed=seed, quiet=True
        )
        model.build()
        model.run()
    return dict(model.model.getNodes())
