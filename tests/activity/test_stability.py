"""Resampling: matched before counted, the same for any number of workers, interruptible."""

from __future__ import annotations

from concurrent.futures import Executor

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin

from rcweb.activity.stability import resample_stability
from rcweb.lab.simulate import simulate


class Shuffled(TransformerMixin, BaseEstimator):
    """Stands for an engine: knows the network, returns it in an order, sign and scale of the seed.

    Row 0 is replaced by noise in half of the fits: a regulator that does not come back.
    """

    def __init__(self, network, n_components=3, random_state=0):
        self.network = network
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X, y=None):
        rng = np.random.default_rng(self.random_state)
        C = self.network.copy()
        if self.random_state and rng.random() < 0.5:
            C[0] = rng.standard_normal(C.shape[1])
        order = rng.permutation(len(C))
        factor = rng.choice([-1, 1], len(C)) * rng.uniform(0.1, 10, len(C))
        self.components_ = C[order] * factor[:, None] if self.random_state else C
        return self


@pytest.fixture(scope="module")
def truth():
    return simulate(30, 80, 3, density=0.2, random_state=1)


def test_order_sign_and_scale_are_resolved_before_counting(truth):
    """Perfect but shuffled refits: every edge always there, none added, the mean is the network."""
    model = Shuffled(truth.network).fit(truth.data)
    result = resample_stability(model, truth.data, n_resamples=40)
    assert result.n_finished == 40
    assert result.regulator_frequency[1:].tolist() == [1, 1]
    assert 0.25 < result.regulator_frequency[0] < 0.75
    assert np.array_equal(result.edge_frequency[1:], (truth.network[1:] != 0).astype(float))
    assert np.allclose(result.mean_weights, truth.network)
    assert result.correlation.shape == (40, 3)
    table = result.regulators(["a", "b", "c"])
    assert table.loc["b", "low_correlation"] == pytest.approx(1)


def test_wrong_sign_is_not_the_same_edge(truth):
    """An edge that changes its sign within the row is not counted as found again."""

    class Fickle(Shuffled):
        def fit(self, X, y=None):
            self.components_ = self.network.copy()
            if self.random_state:
                self.components_[1, self.edge] *= -0.01
            return self

    Fickle.edge = int(np.flatnonzero(truth.network[1])[0])
    model = Fickle(truth.network).fit(truth.data)
    frequency = resample_stability(model, truth.data, n_resamples=5).edge_frequency
    assert frequency[1, Fickle.edge] == 0
    assert frequency[1].sum() == (truth.network[1] != 0).sum() - 1


@pytest.mark.parametrize("scheme", ["subsample", "bootstrap"])
def test_any_number_of_workers_gives_the_same_bits(truth, scheme):
    """One process or two: identical, with the package's own engine."""
    from rcweb import RCweb

    X = pd.DataFrame(truth.data)
    X.columns = X.columns.astype(str)
    model = RCweb(3, method="paper").fit(X)
    one, two = (
        resample_stability(model, X, n_resamples=4, scheme=scheme, n_jobs=n) for n in (1, 2)
    )
    assert np.array_equal(one.edge_frequency, two.edge_frequency)
    assert np.array_equal(one.mean_weights, two.mean_weights)
    assert np.array_equal(one.correlation, two.correlation)


def test_same_seed_same_bits_and_other_seed_other_samples(truth):
    """`random_state` decides both the samples and the seeds of the refits."""
    model = Shuffled(truth.network).fit(truth.data)
    a, b, c = (
        resample_stability(model, truth.data, n_resamples=6, random_state=s) for s in (0, 0, 1)
    )
    assert np.array_equal(a.correlation, b.correlation)
    assert not np.array_equal(a.correlation, c.correlation)


def test_interruption_keeps_what_is_finished(truth):
    """Ctrl-C after three resamples: the three count, and the result says so."""
    model = Shuffled(truth.network).fit(truth.data)
    seen = []

    def stop_after_three(finished, total):
        seen.append((finished, total))
        if finished == 3:
            raise KeyboardInterrupt

    result = resample_stability(model, truth.data, n_resamples=10, progress=stop_after_three)
    full = resample_stability(model, truth.data, n_resamples=10)
    assert seen == [(1, 10), (2, 10), (3, 10)]
    assert (result.n_finished, result.n_resamples) == (3, 10)
    assert np.array_equal(result.correlation, full.correlation[:3])


def test_interruption_with_workers_is_silent(truth):
    """Cancelled tasks give neither a warning nor a wait for all of them."""
    from rcweb import RCweb

    def stop(finished, total):
        raise KeyboardInterrupt

    model = RCweb(3, method="paper").fit(truth.data)
    result = resample_stability(model, truth.data, n_resamples=200, n_jobs=2, progress=stop)
    assert result.n_finished == 1


def test_interruption_before_anything_is_passed_on(truth):
    """Nothing finished, nothing to return."""

    class Interrupted(Shuffled):
        def fit(self, X, y=None):
            if self.random_state:
                raise KeyboardInterrupt
            return super().fit(X)

    model = Interrupted(truth.network).fit(truth.data)
    with pytest.raises(KeyboardInterrupt):
        resample_stability(model, truth.data, n_resamples=3)


def test_resamples_have_the_size_asked_for(truth):
    """Half of the samples, each once; or all, some twice."""
    sizes = []

    class Recorder(Shuffled):
        def fit(self, X, y=None):
            sizes.append((len(X), len(np.unique(X[:, 0]))))
            return super().fit(X)

    model = Recorder(truth.network).fit(truth.data)
    resample_stability(model, truth.data, n_resamples=1, fraction=0.5)
    resample_stability(model, truth.data, n_resamples=1, scheme="bootstrap")
    assert sizes[1] == (15, 15)
    assert sizes[2][0] == 30
    assert sizes[2][1] < 30


def test_a_dask_array_is_not_handed_to_an_executor(truth):
    """Its fits use the cluster themselves; a worker would get the whole table."""
    da = pytest.importorskip("dask.array")

    class Refusing(Executor):
        def submit(self, *task, **options):
            raise AssertionError("handed out")

    model = Shuffled(truth.network).fit(truth.data)
    X = da.from_array(truth.data)
    with pytest.raises(AssertionError, match="handed out"):
        resample_stability(model, truth.data, n_resamples=1, executor=Refusing())
    assert resample_stability(model, X, n_resamples=1, executor=Refusing()).n_finished == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_resamples": 0}, "n_resamples must be at least 1"),
        ({"scheme": "jackknife"}, "scheme must be"),
        ({"fraction": 0.0}, "fraction must lie"),
    ],
)
def test_wrong_arguments(truth, options, message):
    """Named, with what is allowed."""
    model = Shuffled(truth.network).fit(truth.data)
    with pytest.raises(ValueError, match=message):
        resample_stability(model, truth.data, **options)
