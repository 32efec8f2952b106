"""What a fit says of itself: columns of the diagnosis, evidence, and warnings where due."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rcweb import RCweb
from rcweb.engine.diagnosis import dense_factors
from rcweb.lab.simulate import simulate

COLUMNS = {
    "edges",
    "zeros",
    "noise_ratio",
    "gap",
    "score",
    "chance",
    "share",
    "certified",
    "found",
    "frequency",
    "error",
    "recurrence",
}


@pytest.fixture(scope="module")
def planted() -> RCweb:
    sim = simulate(100, 120, 6, density=0.15, noise=0.2, random_state=0)
    return RCweb(6, random_state=0).fit(sim.data)


def test_one_row_per_regulator_with_all_columns(planted: RCweb) -> None:
    """Counts agree with the network; one row each, named as the regulators are."""
    table = planted.diagnosis_
    assert set(table.columns) >= COLUMNS
    assert list(table.index) == list(planted.get_feature_names_out())
    edges = np.count_nonzero(planted.components_, axis=1)
    np.testing.assert_array_equal(table["edges"], edges)
    np.testing.assert_array_equal(table["zeros"], 120 - edges)


def test_planted_regulators_are_trusted(planted: RCweb) -> None:
    """Found again, sparser than chance, zeros at the noise, a clear gap, no word of warning."""
    table = planted.diagnosis_
    assert table["found"].all()
    assert table["certified"].mean() > 0.6
    assert table["recurrence"].between(0.9, 1 + 1e-9).all()
    assert (table["frequency"] == 1).all()
    assert (table["error"] < 0.05).all()
    assert (table["score"] > table["chance"]).all()
    assert ((table["share"] > 0) & (table["share"] <= 1 + 1e-9)).all()
    assert planted.warnings_ == ()
    # Singular values of the zeros are what noise makes them: near 1, whichever way.
    assert table["noise_ratio"].between(0.5, 1.5).all()
    assert (table["gap"] > 1.5).all()


def test_smallest_singular_values_are_those_of_the_zeros(planted: RCweb) -> None:
    """`gap` against an SVD of the rows of V S that are no targets of the regulator."""
    sim = simulate(100, 120, 6, density=0.15, noise=0.2, random_state=0)
    G = sim.data - sim.data.mean(axis=0)
    _, s, Vt = np.linalg.svd(G, full_matrices=False)
    W = (Vt[:6].T) * s[:6]
    sigma = np.sqrt((s[6:] ** 2).sum() / (93 * 114))
    for k, row in enumerate(planted.diagnosis_.itertuples()):
        values = np.linalg.svd(W[planted.components_[k] == 0], compute_uv=False)
        noise = np.sqrt(row.zeros) * sigma
        assert row.noise_ratio == pytest.approx(values[-1] / noise, rel=1e-3)
        assert row.gap == pytest.approx(values[-2] / max(values[-1], noise), rel=1e-3)


def test_seed_does_not_matter() -> None:
    """Searches come from a fixed stream, and where mean field converges nothing is drawn."""
    sim = simulate(100, 120, 6, density=0.15, noise=0.2, random_state=1)
    one, other = (RCweb(6, random_state=seed).fit(sim.data) for seed in (0, 1))
    np.testing.assert_array_equal(one.components_, other.components_)
    pd.testing.assert_frame_equal(one.diagnosis_, other.diagnosis_)


@pytest.mark.parametrize("seed", range(5))
def test_noise_is_not_to_be_trusted(seed: int) -> None:
    """Five regulators asked of pure noise: a warning, none certified or found, no edges."""
    X = np.random.default_rng(seed).standard_normal((80, 150))
    model = RCweb(5, random_state=0).fit(X)
    assert any("No regulator stands out" in sentence for sentence in model.warnings_)
    assert not model.diagnosis_[["certified", "found"]].any(axis=None)
    assert np.count_nonzero(model.components_) == 0


def time_series(rng: np.random.Generator) -> np.ndarray:
    return np.cumsum(rng.standard_normal((120, 500)), axis=0)


NULLS = {
    "random walk": time_series,
    "unequal samples": lambda rng: (
        rng.standard_normal((120, 500)) * np.exp(rng.normal(size=(120, 1)))
    ),
    "heavy tails": lambda rng: rng.standard_t(2, (120, 500)),
    "dense factors": lambda rng: (
        rng.standard_normal((120, 8)) @ rng.standard_normal((8, 500))
        + rng.standard_normal((120, 500))
    ),
}


@pytest.mark.filterwarnings("ignore::rcweb.tables.check.InputWarning")
@pytest.mark.parametrize("n_components", [6, "auto"])
@pytest.mark.parametrize("kind", sorted(NULLS))
def test_noise_of_other_kinds_has_no_regulators(kind: str, n_components: int | str) -> None:
    """Noise that samples share, that differs between them, that is wild; factors without zeros."""
    model = RCweb(n_components, random_state=0).fit(NULLS[kind](np.random.default_rng(0)))
    assert not model.diagnosis_["certified"].any()
    assert np.count_nonzero(model.components_) == 0
    assert model.warnings_


def test_blocks_that_can_be_turned_are_not_certified() -> None:
    """Three regulators on the same 60 variables, Gaussian weights: any rotation explains them, and
    halves of the variables choose different ones."""
    rng = np.random.default_rng(1)
    C = np.zeros((9, 400))
    for block in range(3):
        targets = rng.choice(400, 60, replace=False)
        C[3 * block : 3 * block + 3, targets] = rng.standard_normal((3, 60))
    X = rng.standard_normal((150, 9)) @ C + 0.3 * rng.standard_normal((150, 400))
    model = RCweb(9, random_state=0).fit(X)
    assert model.diagnosis_["certified"].sum() <= 3


def test_small_effects_everywhere_are_said_to_be() -> None:
    """Background weights on all variables: a plain sentence, and only outstanding edges kept."""
    rng = np.random.default_rng(0)
    strong = rng.random((5, 300)) < 0.08
    C = np.where(strong, 1.0, 0.12) * rng.standard_normal((5, 300))
    X = rng.standard_normal((200, 5)) @ C + 0.02 * rng.standard_normal((200, 300))
    model = RCweb(5, random_state=0).fit(X)
    assert any("do not drop to zero" in sentence for sentence in model.warnings_)
    kept = np.count_nonzero(model.components_)
    assert 0.3 * strong.sum() < kept < 1.5 * strong.sum()


def test_evidence_and_reason_tell_one_story() -> None:
    """Counts in the table are those in the sentence and in the model."""
    sim = simulate(100, 120, 6, density=0.15, noise=0.1, random_state=2)
    model = RCweb(random_state=0).fit(sim.data)
    count = model.evidence_.set_index("evidence")["count"]
    assert count["regulators kept"] == model.n_components_ == 6
    assert count["singular values above the edge of noise"] == 6
    assert count["columns found"] == 6
    assert count["columns certified"] <= 6
    assert len(model.singular_values_) == count["directions searched"]
    assert model.reason_.startswith("6 regulators")
    assert model.reason_.endswith(".")


def test_what_noise_allows_does_not_depend_on_the_number_asked_for() -> None:
    """Directions above noise belong to the table: no count that follows the question is told."""
    sim = simulate(100, 120, 6, density=0.15, noise=0.1, random_state=2)
    for asked in (2, 4):
        model = RCweb(asked, random_state=0).fit(sim.data)
        assert model.reason_.startswith(f"{asked} regulators, as asked for;")
        assert "noise" not in model.reason_
        assert model.evidence_.set_index("evidence")["count"]["regulators asked for"] == asked
        assert not any("asked for" in sentence for sentence in model.warnings_)


def test_fewer_regulators_than_asked_for_are_said_to_be() -> None:
    """Nine asked of a table that holds six: the six, and why, in the reason and as a warning."""
    sim = simulate(100, 120, 6, density=0.15, noise=0.1, random_state=2)
    model = RCweb(9, random_state=0).fit(sim.data)
    said = "6 regulators, not the 9 asked for: no more could be told from noise"
    assert model.n_components_ == 6
    assert model.reason_.startswith(said)
    assert f"{said}." in model.warnings_


@pytest.mark.parametrize(("power", "said"), [(3.0, "30%"), (11.0, "100%")])
def test_dense_directions_never_have_more_than_the_whole_variance(power, said):
    """Rows that are not orthogonal count common variance twice."""
    found: Any = SimpleNamespace(
        confirmed=np.array([True, False, False]), score=np.array([2.0, 0.0, 0.0]), chance=1.0
    )
    (sentence,) = dense_factors(found, np.array([1.0, power, power]), total=10.0)
    assert sentence.startswith(f"2 strong directions, one with {said} of the variance, have no")
