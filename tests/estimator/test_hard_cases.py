"""Hard cases, each with its reason: number types, units, near dependence, sizes, wild entries.

What is asserted is the answer: the planted edges, or the bits of the same table in double
precision. `CORE` is one planted table, easy for both methods, of which most cases are made.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rcweb import RCweb
from rcweb.engine.prepare import different_units, prepare
from rcweb.lab.metrics import Recovery, score_network
from rcweb.lab.simulate import simulate
from rcweb.tables import InputWarning

CORE = simulate(120, 90, 5, density=0.15, noise=0.1, random_state=0)
METHODS = pytest.mark.parametrize("method", ["refined", "paper"])

# What the input check says of such tables is tested in tests/tables.
pytestmark = pytest.mark.filterwarnings("ignore::rcweb.tables.check.InputWarning")


def fit(X: object, P: int | str = 5, method: str = "refined") -> RCweb:
    return RCweb(P, method=method, random_state=0).fit(X)


def recovery(model: RCweb, network: np.ndarray = CORE.network) -> Recovery:
    return score_network(model.components_, network)


def assert_same(one: RCweb, other: RCweb) -> None:
    """Every number of two fits, bit by bit."""
    for name in ("components_", "edge_probability_", "edge_score_", "noise_", "projection_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


# --- number types ---


@METHODS
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_short_floats(method: str, dtype: type) -> None:
    """Sums of squares in single precision would lose small singular values: the fit is that of
    the same numbers in double precision, and rounding them costs no edge that noise does not."""
    X = CORE.data.astype(dtype)
    model = fit(X, method=method)
    assert_same(model, fit(X.astype(np.float64), method=method))
    assert model.components_.dtype == np.float64
    best = recovery(fit(CORE.data, method=method))
    assert recovery(model).rho == pytest.approx(best.rho, abs=1e-3)
    assert recovery(model).f1 == pytest.approx(best.f1, abs=0.03)


def test_half_precision_near_its_limit() -> None:
    """Squares of float16 numbers above 256 overflow, their sums above 65504 too."""
    X = (CORE.data / np.abs(CORE.data).max() * 6e4).astype(np.float16)
    assert recovery(fit(X)).rho > 0.999


@METHODS
@pytest.mark.parametrize(
    ("dtype", "largest"),
    [(np.int8, 127), (np.int16, 32767), (np.int32, 2**31 - 1), (np.int64, 2**63 - 1024)],
)
def test_integers_near_their_limits(method: str, dtype: type, largest: int) -> None:
    """Differences and squares of such integers overflow in their own type."""
    X = (CORE.data / np.abs(CORE.data).max() * largest).round().astype(dtype)
    model = fit(X, method=method)
    assert_same(model, fit(X.astype(np.float64), method=method))
    assert recovery(model).rho > 0.999


def test_unsigned_counts() -> None:
    """In uint8 a value below its mean wraps round to a large one."""
    rng = np.random.default_rng(0)
    rate = 100 + 30 * (CORE.data - CORE.data.mean(axis=0)) / CORE.data.std()
    X = rng.poisson(rate.clip(0)).clip(0, 255).astype(np.uint8)
    with pytest.warns(InputWarning, match="raw counts"):
        model, same = fit(X), fit(X.astype(np.float64))
    assert_same(model, same)
    assert recovery(model).rho > 0.98


@METHODS
def test_truth_values(method: str) -> None:
    """NumPy refuses to subtract booleans; they are 0 and 1."""
    X = CORE.data > np.median(CORE.data, axis=0)
    assert_same(fit(X, method=method), fit(X.astype(np.float64), method=method))


@METHODS
def test_object_columns(method: str) -> None:
    """A frame of mixed columns arrives as objects; text that is no number is refused."""
    frame = pd.DataFrame(CORE.data).rename(columns="v{}".format)
    mixed = frame.astype(object)
    assert_same(fit(mixed, method=method), fit(frame, method=method))
    mixed.iloc[3, 4] = "low"
    with pytest.raises(ValueError, match="low"):
        fit(mixed, method=method)


def test_nullable_integers() -> None:
    """pandas keeps integers with holes as Int64 with NA, which is "not measured"."""
    X = pd.DataFrame((1000 * CORE.data).round()).rename(columns="v{}".format).astype("Int64")
    X.iloc[::7, 3] = pd.NA
    model = fit(X)
    assert recovery(model).rho > 0.999
    assert model.observed_[3] == pytest.approx(1 - 18 / 120)


# --- units ---


@METHODS
@pytest.mark.parametrize("decades", [3, 12])
def test_variables_in_units_of_all_sizes(method: str, decades: int) -> None:
    """From 1e-12 to 1e12 in one table: sums of squares would hold the largest variables alone.

    As good as the table of unit variances, in the user's units.
    """
    scale = 10.0 ** np.random.default_rng(0).uniform(-decades, decades, 90)
    X = CORE.data * scale
    model = fit(X, method=method)
    unit = fit(CORE.data / CORE.data.std(axis=0), method=method)
    found = score_network(model.components_ / scale, CORE.network)
    assert found.rho > 0.99
    assert found.f1 > score_network(unit.components_, CORE.network).f1 - 0.05
    again = model.inverse_transform(model.transform(X))
    assert ((again - X) / scale).std() < 0.15 * CORE.data.std()
    if method == "refined":
        np.testing.assert_allclose(np.median(model.noise_ / scale / CORE.noise_sd), 1, atol=0.1)


def test_units_are_equal_powers_of_two() -> None:
    """Dividing by them rounds nothing, and tables in like units are left alone."""
    low, high = np.array([-1.0, 0.0, 3.0, 5.0]), np.array([1.0, 1e9, 3.0, 5 + 1e-6])
    units = different_units(low, high, high > low)
    assert units is not None
    assert (np.log2(units) % 1 == 0).all()
    assert ((high - low)[[0, 1, 3]] / units[[0, 1, 3]] < 4).all()
    assert ((high - low)[[0, 1, 3]] / units[[0, 1, 3]] >= 2).all()
    assert units[2] == 1
    assert prepare(CORE.data, center=True).units is None


def test_rounding_is_no_unit() -> None:
    """Variables constant but for the last digits stay small beside the others: no edges of theirs
    make a regulator."""
    X = CORE.data.copy()
    idle = np.arange(90) % 4 == 0
    X[:, idle] = 1e3 + 1e-11 * np.random.default_rng(0).standard_normal((120, idle.sum()))
    assert prepare(X, center=True).units is None
    network = np.where(idle, 0.0, CORE.network)
    assert recovery(fit(X), network).rho > 0.99


@METHODS
@pytest.mark.parametrize("factor", [1e-150, 1e150])
def test_tables_of_extreme_size(method: str, factor: float) -> None:
    """Squares overflow or vanish: the same edges, and the prediction in the right size."""
    model, plain = fit(factor * CORE.data, method=method), fit(CORE.data, method=method)
    np.testing.assert_array_equal(model.components_ != 0, plain.components_ != 0)
    again = model.inverse_transform(model.transform(factor * CORE.data))
    assert np.abs(again / factor - CORE.data).std() < 0.15 * CORE.data.std()


@METHODS
def test_a_large_offset(method: str) -> None:
    """1e8 beside a spread of 1: a mean taken off late would leave half of the digits."""
    model = RCweb(5, method=method, center=True, random_state=0).fit(CORE.data + 1e8)
    plain = RCweb(5, method=method, center=True, random_state=0).fit(CORE.data)
    assert score_network(model.components_, plain.components_).f1 > 0.98
    np.testing.assert_allclose(model.mean_ - 1e8, plain.mean_, atol=1e-6)


# --- nearly dependent ---


def collinear(noise: float) -> np.ndarray:
    """The core with two regulators whose activities have a cosine of 0.98."""
    R = CORE.activities - CORE.activities.mean(axis=0)
    R /= R.std(axis=0)
    R[:, 1] = 0.98 * R[:, 0] + np.sqrt(1 - 0.98**2) * R[:, 1]
    G = R @ CORE.network
    return G + noise * G.std() * np.random.default_rng(1).standard_normal(G.shape)


@METHODS
@pytest.mark.parametrize("noise", [0.0, 0.02, 0.1])
def test_nearly_collinear_regulators(method: str, noise: float) -> None:
    """Their difference has a fiftieth of the power of their sum: both rows are still told apart."""
    found = recovery(fit(collinear(noise), method=method))
    assert found.rho_per_regulator.min() > 0.99
    assert found.recall > 0.9


@pytest.mark.parametrize("noise", [0.02, 0.1])
def test_nearly_collinear_regulators_without_false_edges(noise: float) -> None:
    """Pairs of small weights of opposite sign, each certain while the other is there, made every
    second edge false."""
    assert recovery(fit(collinear(noise))).precision > 0.85


@METHODS
def test_duplicated_variables(method: str) -> None:
    """Each variable twice: a singular Gram matrix; twins have the same edges."""
    model = fit(np.repeat(CORE.data, 2, axis=1), method=method)
    found = recovery(model, np.repeat(CORE.network, 2, axis=1))
    assert found.rho > 0.999
    assert found.f1 > 0.95
    twins = (model.components_[:, ::2] != 0) == (model.components_[:, 1::2] != 0)
    assert twins.mean() > 0.98


@METHODS
def test_duplicated_samples(method: str) -> None:
    """Each sample twice says nothing new: the same rows."""
    model = fit(np.repeat(CORE.data, 2, axis=0), method=method)
    assert recovery(model).rho > 0.999


@METHODS
def test_constant_variables_change_nothing(method: str) -> None:
    """Whatever their value: no edges, the others as if they were not there."""
    X = CORE.data.copy()
    constant = np.array([3, 8, 40])
    X[:, constant] = [7.0, -1e12, 0.0]
    others = np.setdiff1d(np.arange(90), constant)
    model, without = fit(X, method=method), fit(X[:, others], method=method)
    np.testing.assert_array_equal(model.components_[:, others], without.components_)
    assert (model.components_[:, constant] == 0).all()
    assert (model.inverse_transform(model.transform(X))[:, constant] == X[0, constant]).all()
    assert any("3, 8, 40" in note for note in model.warnings_)


# --- sizes ---


@METHODS
def test_one_regulator(method: str) -> None:
    """P = 1: matrices of one column; all targets and no others."""
    rng = np.random.default_rng(0)
    network = np.where(np.arange(40) < 10, 2.0, 0.0)[None]
    X = rng.standard_normal((50, 1)) @ network + 0.2 * rng.standard_normal((50, 40))
    model = fit(X, 1, method)
    np.testing.assert_array_equal(model.components_ != 0, network != 0)


@METHODS
def test_as_many_regulators_as_the_rank(method: str) -> None:
    """P = M - 1 = 12 without noise: no singular value is left to tell the noise from."""
    sim = simulate(13, 200, 12, noise=0.0, density=0.15, random_state=0)
    found = recovery(fit(sim.data, 12, method), sim.network)
    assert found.rho == pytest.approx(1, abs=1e-6)
    assert found.f1 == 1


@METHODS
def test_fewer_samples_than_regulators(method: str) -> None:
    """12 regulators in 8 samples cannot be told apart: asked for, an error with the number that
    can; not asked for, at most that many."""
    X = simulate(8, 60, 12, noise=0.1, random_state=0).data
    most = 7 if method == "refined" else 8
    with pytest.raises(ValueError, match=f"n_components=12 .* can be, {most} .*or 'auto'"):
        fit(X, 12, method)
    assert 1 <= fit(X, "auto", method).n_components_ <= most


@METHODS
@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (3, 3), (4, 5)])
def test_tiny_tables_of_one_regulator(method: str, shape: tuple[int, int]) -> None:
    """Rank one: predicted exactly by one regulator, however few the numbers."""
    rng = np.random.default_rng(0)
    X = np.outer(rng.standard_normal(shape[0]), 1 + rng.random(shape[1]))
    model = fit(X, 1, method)
    again = model.inverse_transform(model.transform(X))
    np.testing.assert_allclose(again, X, atol=0.02 * np.abs(X).max())


# --- wild entries ---


def wild(share: float, size: float) -> np.ndarray:
    """The core with a share of its entries off by so many standard deviations of the table."""
    rng = np.random.default_rng(2)
    hit = rng.random(CORE.data.shape) < share
    return CORE.data + hit * rng.choice([-1, 1], hit.shape) * size * CORE.data.std()


@pytest.mark.parametrize("size", [5, 10, 20])
def test_a_few_wild_entries(size: float) -> None:
    """One entry in a thousand: each would make a direction of its own, squares weigh it most."""
    assert recovery(fit(wild(0.001, size))).rho > 0.99


HIDDEN = pytest.mark.xfail(
    strict=True, reason="edges are not drawn: limited entries leave noise that is not independent"
)


@pytest.mark.parametrize(
    ("share", "size"), [(0.005, 5), (0.005, 10), pytest.param(0.005, 50, marks=HIDDEN), (0.02, 10)]
)
def test_many_wild_entries(share: float, size: float) -> None:
    """Five in a thousand are 54, more directions than regulators: together they make the leading
    ones, by which they are not to be judged."""
    assert recovery(fit(wild(share, size))).rho > 0.98


@pytest.mark.xfail(strict=True, reason="two in a hundred, fifty times the table's scale")
def test_very_many_very_wild_entries() -> None:
    """Every other sample has one."""
    assert recovery(fit(wild(0.02, 50))).rho > 0.95


def counts(n_idle: int) -> tuple[np.ndarray, np.ndarray]:
    """Single cells: three programs of 25 variables, each on in a tenth of 1,500 cells, and
    `n_idle` variables that are hardly ever counted."""
    rng = np.random.default_rng(0)
    network = np.zeros((3, 60 + n_idle))
    for p in range(3):
        network[p, (20 * p + np.arange(25)) % 60] = 0.6
    on = rng.random((1500, 3)) < 0.1
    return rng.poisson(on @ network + 0.005), network


def test_counts_mostly_zero() -> None:
    """19 in 20 are zero, and so is every median: what stands out of zeros is signal, not wild.
    Programs of 25 of 60 variables have no tails; the start from zeros finds them."""
    X, network = counts(0)
    assert (X == 0).mean() > 0.92
    assert recovery(fit(X, 3), network).rho > 0.97


def test_counts_with_idle_variables() -> None:
    """Whitening makes idle variables as important as the others, their rare counts regulators."""
    X, network = counts(20)
    model = fit(X, "auto")
    assert model.n_components_ <= 6
    assert recovery(model, network).rho > 0.97
