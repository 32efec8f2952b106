"""Tables that nobody would choose: an answer in finite numbers, or an error that helps."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rcweb import RCweb
from rcweb.engine.effort import EFFORTS, Effort, Sweeps
from rcweb.lab.metrics import score_network

# What the input check says of such tables is tested in tests/tables.
pytestmark = pytest.mark.filterwarnings("ignore::rcweb.tables.check.InputWarning")

HELPFUL = re.compile("must be smaller than|more than the rank of the table|needs at least 2")
# Every step of the usual budgets, fewer times: a table like these takes all of 6,000 sweeps.
SHORT = {
    "standard": Effort(1, None, Sweeps(300, 10, 100)),
    "high": Effort(3, Sweeps(50, 50, 100), Sweeps(600, 50, 200)),
}


def check(
    X: np.ndarray, n_components: int | str, *, short: bool = True, **options: object
) -> RCweb | None:
    """Fit; numbers finite and in their ranges. Warnings are errors in these tests."""
    try:
        with pytest.MonkeyPatch.context() as patch:
            for quality, effort in SHORT.items() if short else ():
                patch.setitem(EFFORTS, quality, effort)
            model = RCweb(n_components, random_state=0, **options).fit(X)
    except ValueError as error:
        assert HELPFUL.search(str(error)), error  # noqa: PT017 (an answer would do as well)
        return None
    P, N = model.n_components_, X.shape[1]
    shapes = {
        "components_": (P, N),
        "edge_probability_": (P, N),
        "edge_score_": (P, N),
        "projection_": (N, P),
        "noise_": (N,),
        "mean_": (N,),
    }
    for name, shape in shapes.items():
        values = getattr(model, name)
        assert values.shape == shape, name
        assert np.isfinite(values).all(), name
    assert np.isfinite(model.singular_values_).all()
    assert np.isfinite(model.rotation_).all()
    assert ((model.edge_probability_ >= 0) & (model.edge_probability_ <= 1)).all()
    assert (model.noise_ >= 0).all()
    assert 1 <= P <= min(len(X) - 1, N - 1)
    if n_components != "auto":
        assert n_components >= P
    assert np.isfinite(model.transform(X)).all()
    assert len(model.diagnosis_) == P
    assert not model.diagnosis_.isna().any(axis=None)
    assert len(model.network_.edges()) == np.count_nonzero(model.components_)
    return model


def network(rng: np.random.Generator, M: int, N: int, noise: float) -> np.ndarray:
    C = rng.standard_normal((3, N)) * (rng.random((3, N)) < 0.4)
    return rng.standard_normal((M, 3)) @ C + noise * rng.standard_normal((M, N))


def wild_column(rng: np.random.Generator, M: int, N: int) -> np.ndarray:
    X = network(rng, M, N, 0.1)
    X[:, 0] *= 1e6
    return X


def wild_entry(rng: np.random.Generator, M: int, N: int) -> np.ndarray:
    X = network(rng, M, N, 0.1)
    X[0, -1] = 1e9
    return X


KINDS = {
    "noise": lambda rng, M, N: rng.standard_normal((M, N)),
    "network": lambda rng, M, N: network(rng, M, N, 0.1),
    "noise-free": lambda rng, M, N: network(rng, M, N, 0.0),
    "duplicated": lambda rng, M, N: network(rng, M, N, 0.1)[:, np.arange(N) // 2],
    "rank one": lambda rng, M, N: np.outer(rng.standard_normal(M), rng.standard_normal(N)),
    "two kinds of samples": lambda rng, M, N: rng.standard_normal((2, N))[np.arange(M) % 2],
    "small integers": lambda rng, M, N: rng.integers(0, 3, (M, N)),
    "counts, mostly zero": lambda rng, M, N: rng.poisson(0.2, (M, N)),
    "identity": lambda rng, M, N: np.eye(M, N),
    "wild column": wild_column,
    "wild entry": wild_entry,
    "Cauchy": lambda rng, M, N: rng.standard_cauchy((M, N)),
    "scales of all sizes": lambda rng, M, N: network(rng, M, N, 0.1) * np.geomspace(1e-6, 1e6, N),
    "large offset": lambda rng, M, N: network(rng, M, N, 0.1) + 1e9,
}


any_table = given(
    st.sampled_from(sorted(KINDS)),
    st.integers(0, 10**6),
    st.integers(2, 24),
    st.integers(2, 24),
    st.one_of(st.just("auto"), st.integers(1, 6)),
    st.sampled_from([1.0, 1e12, 1e-12]),
)


@settings(max_examples=60)
@any_table
def test_any_small_table(
    kind: str, seed: int, M: int, N: int, n_components: int | str, scale: float
) -> None:
    """Never NaN, an error of linear algebra, or a warning, whatever the table."""
    X = KINDS[kind](np.random.default_rng(seed), M, N)
    check(X * scale if scale != 1.0 else X, n_components)


@pytest.mark.slow
@settings(max_examples=60)
@any_table
def test_any_small_table_with_the_whole_budget(
    kind: str, seed: int, M: int, N: int, n_components: int | str, scale: float
) -> None:
    """The same, sampled for as long as a fit may be."""
    X = KINDS[kind](np.random.default_rng(seed), M, N)
    check(X * scale if scale != 1.0 else X, n_components, short=False)


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("options", [{"degree": 1}, {"quality": "high"}, {"fdr": 0.9}])
def test_every_kind_with_every_option(kind: str, options: dict) -> None:
    """The same for a degree given, for the higher quality, and for a generous rate."""
    check(KINDS[kind](np.random.default_rng(1), 16, 13), 2, **options)


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize(
    "options", [{}, pytest.param({"quality": "high"}, marks=pytest.mark.slow)], ids=str
)
def test_every_kind_with_the_whole_budget(kind: str, options: dict) -> None:
    """A chain of thousands of sweeps goes nowhere either where it has not been in hundreds."""
    check(KINDS[kind](np.random.default_rng(1), 16, 13), 2, short=False, **options)


@pytest.mark.parametrize("shape", [(2, 2), (2, 9), (3, 4), (9, 2), (4, 60), (60, 4)])
def test_smallest_tables(shape: tuple[int, int]) -> None:
    """Fewer samples than regulators + 2, two variables, one regulator: still an answer."""
    X = np.random.default_rng(0).standard_normal(shape)
    assert check(X, "auto") is not None
    assert check(X, 1) is not None
    assert check(X, min(shape[0] - 1, shape[1] - 1)) is not None


def test_more_regulators_than_the_table_holds_names_the_way_out() -> None:
    """The number asked for and the number possible are both in the message."""
    X = np.random.default_rng(0).standard_normal((5, 30))
    with pytest.raises(ValueError, match=r"n_components=7 .* 4 .*ask for fewer or 'auto'"):
        RCweb(7).fit(X)


def test_one_planted_regulator_is_found() -> None:
    """P = 1: its targets; one regulator in 8 of 10 tables at least if not told, or told three.

    Chance adds a second direction to one table in ten of this size.
    """
    targets = np.arange(40) < 10
    found = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((60, 1)) * np.where(targets, 2.0, 0.0)
        X = X + 0.2 * rng.standard_normal((60, 40))
        models = [RCweb(n, random_state=0).fit(X) for n in (1, "auto", 3)]
        for model in models:
            assert ((model.components_[0] != 0) == targets).mean() > 0.9
        found.append([model.n_components_ for model in models])
    alone = (np.array(found) == 1).sum(axis=0)
    assert alone[0] == 10
    assert (alone >= 8).all()


def test_wild_column_hides_nothing() -> None:
    """A variable in units a million times too small changes no one else's edges much."""
    rng = np.random.default_rng(3)
    X = network(rng, 60, 40, 0.1)
    C = RCweb(3, random_state=0).fit(X).components_
    X[:, 0] = 1e3 * rng.standard_normal(60)
    model = RCweb(4, random_state=0).fit(X)
    assert score_network(model.components_[:, 1:], C[:, 1:]).rho > 0.9
