"""The abstract's claims without noise: the exact support, from cells of the benchmark."""

from __future__ import annotations

import numpy as np
import pytest

from rcweb import RCweb
from rcweb.lab.benchmark.scenarios import Cell, claims
from rcweb.lab.metrics import score_network

DENSE, FEW_VARIABLES, MANY_REGULATORS = claims()


@pytest.mark.parametrize(
    ("cell", "seed"),
    [
        (DENSE, 0),
        (DENSE, 1),
        (FEW_VARIABLES, 0),
        pytest.param(FEW_VARIABLES, 1, marks=pytest.mark.slow),
        pytest.param(MANY_REGULATORS, 0, marks=pytest.mark.slow),
    ],
    ids=lambda value: value.panel if isinstance(value, Cell) else None,
)
def test_exact_support_without_noise(cell: Cell, seed: int) -> None:
    """Half of the entries are edges; two variables per regulator, where a search that is confined
    to the directions left sees only blurred rows and found 0 of 10 networks. With 250 regulators
    the first search finds none of them: accuracy 0.3 if that ends the search."""
    truth = cell.draw(seed)
    model = RCweb(cell.n_regulators, random_state=seed).fit(truth.data)
    found = score_network(model.components_, truth.network)
    assert found.rho > 1 - 1e-9
    assert (found.precision, found.recall) == (1.0, 1.0)


@pytest.mark.parametrize(("M", "N", "P"), [(9, 30, 3), (12, 60, 4)])
def test_few_samples_without_noise_tell_the_number(M: int, N: int, P: int) -> None:
    """With noise so few directions beside the regulators would tell nothing."""
    rng = np.random.default_rng(0)
    C = rng.standard_normal((P, N)) * (rng.random((P, N)) < 0.3)
    model = RCweb(random_state=0).fit(rng.standard_normal((M, P)) @ C)
    assert model.n_components_ == P
    assert model.diagnosis_["found"].all()
    noisy = RCweb(random_state=0).fit(rng.standard_normal((M, N)))
    assert not noisy.diagnosis_["found"].any()
