"""Preparation is undone exactly: means, constant variables, extreme numbers, copies of samples."""

from __future__ import annotations

import numpy as np
import pytest

from rcweb import RCweb
from rcweb.engine.prepare import constant_note, prepare
from rcweb.lab.simulate import simulate


def test_centres_only_when_asked() -> None:
    X = np.random.default_rng(0).random((6, 4))
    assert prepare(X, center=False).mean.tolist() == [0, 0, 0, 0]
    np.testing.assert_array_equal(prepare(X, center=False).G0, X)
    centred = prepare(X, center=True)
    np.testing.assert_allclose(centred.G0 + centred.mean, X)
    np.testing.assert_allclose(centred.G0.mean(axis=0), 0, atol=1e-15)


def test_constant_variables_are_set_aside() -> None:
    """Constant up to rounding counts as constant, whatever the size of the number."""
    X = np.random.default_rng(0).random((6, 5))
    X[:, 1] = 1e9
    X[:, 3] = 0.1 + 1e-17 * np.arange(6)
    prepared = prepare(X, center=False)
    assert prepared.varying.tolist() == [True, False, True, False, True]
    assert prepared.G0.shape == (6, 3)
    assert prepared.mean[1] == 1e9
    assert constant_note(prepared.varying)[0].endswith("variables 1, 3.")
    assert "and 2 more" in constant_note(np.zeros(12, bool))[0]
    assert constant_note(np.ones(3, bool)) == ()


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_arranged_tables_have_the_same_bits(center: bool, offset: float) -> None:
    """Samples and variables in another order, and another sign: the same table, and a way back."""
    rng = np.random.default_rng(0)
    X = offset + rng.standard_normal((30, 40))
    X[1] = 2 * offset - X[0]  # two replicates on which the table may have been centred
    X[:, 7] = 3.0
    samples, variables = rng.permutation(30), rng.permutation(40)
    sign = rng.choice([-1.0, 1.0], 40)
    one = prepare(X, center=center, arrange=True)
    other = prepare((X * sign)[samples][:, variables], center=center, arrange=True)
    np.testing.assert_array_equal(samples[other.samples], one.samples)
    np.testing.assert_array_equal(variables[other.columns], one.columns)
    np.testing.assert_array_equal(other.G0, one.G0 * sign[one.columns])
    np.testing.assert_array_equal(other.mean, (one.mean * sign)[variables])
    expected = (X - one.mean)[np.ix_(one.samples, one.columns)]
    np.testing.assert_allclose(one.G0, expected, atol=1e-15 * max(offset, 1))


@pytest.mark.parametrize("factor", [1e300, 1e-300])
def test_extreme_numbers_do_not_overflow(factor: float) -> None:
    X = np.random.default_rng(0).standard_normal((6, 4))
    prepared = prepare(X * factor, center=True)
    assert np.isfinite(prepared.G0 @ prepared.G0.T).all()
    np.testing.assert_allclose(prepared.G0 * prepared.scale + prepared.mean, X * factor)


def test_nothing_varies() -> None:
    with pytest.raises(ValueError, match="1 of the 3 variables vary"):
        prepare(np.column_stack([np.ones(4), np.arange(4.0), np.zeros(4)]), center=True)


def test_copies_of_samples_count_once() -> None:
    """The same table four times over is the same table: 150 copies would pass for samples with a
    noise of their own, of which there is none (false edges 0.92 before)."""
    sim = simulate(50, 200, 6, density=0.12, noise=0.3, random_state=0)
    once, often = (RCweb(random_state=0).fit(np.repeat(sim.data, n, axis=0)) for n in (1, 4))
    assert often.n_components_ == once.n_components_ == 6
    np.testing.assert_allclose(often.components_, once.components_, atol=1e-8)
    assert not any("exact cop" in note for note in once.warnings_)
    assert any("150 samples are exact copies" in note for note in often.warnings_)


RANDOM = np.random.default_rng(1).standard_normal((30, 5))


def test_which_copies_are_left_out() -> None:
    """Order of the samples does not matter; every sample is there once."""
    X = np.random.default_rng(0).standard_normal((6, 9))
    prepared = prepare(X[[0, 3, 1, 3, 2, 0, 4, 5, 0]], center=False, arrange=True)
    assert prepared.copies == 3
    assert sorted(map(tuple, prepared.G0[:, np.argsort(prepared.columns)])) == sorted(map(tuple, X))
    few = prepare(np.vstack([RANDOM, RANDOM[:2]]), center=False, arrange=True)
    assert few.copies == 0
    assert len(few.G0) == len(RANDOM) + 2
