"""Curves of a regulator's activity are not taken for regulators of their own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcweb import RCweb
from rcweb.engine.curved import curvature, curve_of, size_correlation
from rcweb.engine.effort import EFFORTS, Effort, Sweeps
from rcweb.engine.matching import row_correlation

RNG = np.random.default_rng(0)


def slow_curvature(q: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    """What a^2, a^3 and a b explain of q beyond a and b, by least squares."""
    left = []
    for powers in ([], [a**2, a**3, a * b]):
        design = np.column_stack([np.ones(len(q)), a, b, *powers])
        left.append(((q - design @ np.linalg.lstsq(design, q, rcond=None)[0]) ** 2).sum())
    return float((left[0] - left[1]) / ((q - q.mean()) ** 2).sum())


@given(st.integers(0, 1000), st.integers(10, 60))
def test_curvature_is_that_of_least_squares(seed: int, m: int) -> None:
    """For activities that depend on each other and that do not."""
    a, b, q = np.random.default_rng(seed).standard_normal((3, m))
    for one in (q, q + a**2, q - a * b):
        found = curvature(one, a, b[:, None])
        np.testing.assert_allclose(found, slow_curvature(one, a, b), atol=1e-9)


def test_scale_sign_and_offset_do_not_matter() -> None:
    q, a, b = RNG.standard_normal((3, 50))
    turned = curvature(-3 * q + 5, 1e-6 * a - 1, 1e3 * b[:, None])
    np.testing.assert_allclose(curvature(q, a, b[:, None]), turned, rtol=1e-6, atol=1e-12)


def rows(targets: list[slice], sizes: list[float], N: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Weights of either sign on the targets, and the targets."""
    C = np.zeros((len(targets), N))
    for row, where, size in zip(C, targets, sizes):
        row[where] = size * RNG.choice([-1, 1], len(row[where]))
    return C, C != 0


def test_a_curve_with_the_same_targets_is_told() -> None:
    """The square of an activity on the same targets; not the square on other targets, and not an
    independent activity on the same ones."""
    a = RNG.standard_normal(200)
    A = np.column_stack([a, a**2 + 0.3 * RNG.standard_normal(200), RNG.standard_normal(200)])
    C, targets = rows([slice(0, 10)] * 3, [3.0, 2.0, 1.0])
    assert curve_of(C, targets, A).tolist() == [-1, 0, -1]
    # The stronger one is the regulator.
    assert curve_of(C[[1, 0, 2]], targets, A[:, [1, 0, 2]]).tolist() == [1, -1, -1]
    C, targets = rows([slice(0, 10), slice(10, 20), slice(0, 10)], [3.0, 2.0, 1.0])
    assert curve_of(C, targets, A).tolist() == [-1, -1, -1]


def test_a_background_does_not_hide_a_curve() -> None:
    """Small effects everywhere: a curve is told there by the same rule."""
    a, noise = RNG.standard_normal((2, 200))
    A = np.column_stack([a, a**2 + 0.3 * noise])
    C, targets = rows([slice(0, 20)] * 2, [3.0, 2.0], 200)
    C = np.where(targets, C, 0.3 * RNG.standard_normal(C.shape))
    assert size_correlation(*C) > 0.5
    assert curve_of(C, targets, A).tolist() == [-1, 0]


def test_few_samples_show_no_curve() -> None:
    """With 12 samples three terms explain a third of anything."""
    C, targets = rows([slice(0, 20)] * 3, [3.0, 2.0, 1.0])
    told = [curve_of(C, targets, A) for A in RNG.standard_normal((200, 12, 3))]
    assert np.mean(np.array(told) >= 0) < 0.02


def hill_table(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """200 samples, 400 variables, 8 regulators; each edge answers by its own Hill curve."""
    rng = np.random.default_rng(seed)
    mask = rng.random((8, 400)) < 0.1
    weight = np.where(mask, 3 * rng.standard_normal(mask.shape), 0.0)
    r, k = rng.lognormal(0, 0.7, (200, 8)), rng.lognormal(0, 0.5, mask.shape)
    signal = sum(
        weight[p] * r[:, [p]] ** 2 / (k[p] ** 2 + r[:, [p]] ** 2) for p in range(len(mask))
    )
    return signal + 0.2 * np.std(signal) * rng.standard_normal(signal.shape), mask


@pytest.mark.parametrize("seed", [0, 1])
def test_hill_curves_do_not_make_regulators(seed: int) -> None:
    """Each regulator makes two or three directions. "auto" searches again without them and ends
    with the planted regulators, each once; a note, `reason_` and `evidence_` say why."""
    X, mask = hill_table(seed)
    model = RCweb(random_state=0).fit(X)
    found = model.diagnosis_["found"].to_numpy(bool)
    assert model.n_components_ == found.sum() == len(mask)
    targets = model.components_ != 0
    common = targets.astype(int) @ mask.T
    assert sorted(common.argmax(axis=1)) == list(range(len(mask)))
    assert common.max(axis=1).sum() / targets.sum() > 0.95
    assert any("curves of other regulators" in note for note in model.warnings_)
    assert "curves of other regulators" in model.reason_
    evidence = model.evidence_.set_index("evidence")["count"]
    assert evidence["directions searched before"] > evidence["directions searched"]


def test_a_number_asked_for_stays() -> None:
    """Only "auto" searches again: with a number the user has decided."""
    X, mask = hill_table(0)
    model = RCweb(14, random_state=0).fit(X)
    assert "as asked for" in model.reason_
    assert model.n_components_ == 14
    assert model.diagnosis_["found"].sum() <= len(mask)


def test_a_checkpoint_of_the_first_search_is_not_taken_for_the_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sampler's state is saved in every round; that of the first search has other columns."""
    monkeypatch.setattr("rcweb.storage.checkpoint.EVERY", 0.0)
    shorter = Effort(3, Sweeps(50, 20, 150), Sweeps(600, 20, 150))
    monkeypatch.setitem(EFFORTS, "high", shorter)
    X, _ = hill_table(0)
    plain = RCweb(quality="high", random_state=0).fit(X)
    assert "curves of other regulators" in plain.reason_
    saved = RCweb(quality="high", random_state=0, checkpoint=tmp_path / "saved").fit(X)
    np.testing.assert_array_equal(saved.weights_, plain.weights_)


def synergy(rng: np.random.Generator, with_product: bool) -> tuple[np.ndarray, ...]:
    """Weights, targets and activities of two regulators, of a third that shares their targets and
    whose activity is their product or its own, and of a fourth elsewhere."""
    A = rng.standard_normal((200, 4))
    if with_product:
        A[:, 2] = A[:, 0] * A[:, 1] + 0.3 * A[:, 2]
    C, targets = rows([slice(30), slice(10, 40), slice(12, 30), slice(45, 60)], [2.0, 1.8, 1, 0.9])
    return C, targets, A


@pytest.mark.parametrize("seed", range(3))
def test_a_product_is_told_from_a_regulator(seed: int) -> None:
    """Two regulators that act together on common targets make a third direction; one of the same
    targets with an activity of its own is a regulator."""
    rng = np.random.default_rng(seed)
    C, targets, A = synergy(rng, with_product=True)
    assert curve_of(C, targets, A).tolist() == [-1, -1, 0, -1]
    turned = A * [-2.0, 1e3, -1.0, 1.0] + [5.0, 0.0, 0.0, 1.0]
    assert curve_of(C, targets, turned).tolist() == [-1, -1, 0, -1]
    assert (curve_of(*synergy(rng, with_product=False)) == -1).all()


@pytest.mark.parametrize("seed", [1, 2])
def test_targets_that_answer_to_two_together_are_no_third_regulator(seed: int) -> None:
    """A table in which common targets of two regulators also follow the product of their
    activities: what is neither of the two is not certified."""
    rng = np.random.default_rng(seed)
    C = np.where(rng.random((8, 500)) < 0.08, rng.standard_normal((8, 500)), 0.0)
    both = rng.choice(500, 40, replace=False)
    C[:2, both] = rng.choice([-1, 1], (2, 40)) * rng.uniform(0.7, 1.5, (2, 40))
    R = rng.standard_normal((150, 8))
    G = R @ C
    G[:, both] += np.outer(R[:, 0] * R[:, 1], rng.standard_normal(40))
    X = G + 0.3 * rng.standard_normal(G.shape)
    model = RCweb(9, random_state=0).fit(X)
    with_product = np.column_stack([R[:, 0] * R[:, 1], model.transform(X)])
    third = np.abs(np.corrcoef(with_product.T)[0, 1:]) > 0.9
    assert third.sum() == 1, "this table was to have a direction of the product"
    grades = model.diagnosis_[["certified", "found"]].to_numpy(bool)
    assert not grades[third].any()
    assert grades[~third].any(axis=1).all()


@pytest.mark.parametrize("seed", range(3))
def test_what_changes_an_effect_need_not_have_the_targets(seed: int) -> None:
    """Each of six regulators changes what another one does to half of its targets, and has targets
    of its own. Such products were certified, and with P told they displaced regulators."""
    rng = np.random.default_rng(seed)
    P, N, M = 8, 600, 300
    mask = rng.random((P, N)) < 0.1
    C = np.where(mask, rng.standard_normal((P, N)), 0.0)
    R = rng.standard_normal((M, P))
    G = R @ C
    for k in range(6):
        half = mask[k] & (rng.random(N) < 0.5)
        changed = np.where(half, 0.7 * rng.standard_normal(N), 0.0)
        G += np.outer(R[:, k] * R[:, (k + 1) % P], changed)
    X = G + 0.4 * G.std() * rng.standard_normal(G.shape)
    for asked in (P, "auto"):
        model = RCweb(asked, random_state=0).fit(X)
        rho = np.abs(row_correlation(model.weights_, C))
        assert rho.max(axis=0).min() > 0.95
        found = model.diagnosis_["found"].to_numpy(bool)
        assert rho.max(axis=1)[found].min() > 0.95
