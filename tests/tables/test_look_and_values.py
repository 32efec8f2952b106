"""What the input check says about the numbers of a table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from rcweb.lab.simulate import simulate
from rcweb.tables import InputCheck, check_look, look_at
from rcweb.tables.odd import far_above, tenfold_above


def check(values: np.ndarray, **names: object) -> InputCheck:
    return check_look(look_at(values, **names))


def levels(rng: np.random.Generator, M: int = 40, N: int = 200) -> np.ndarray:
    """Log expression: each gene has a level of its own."""
    return rng.uniform(0, 12, N) + rng.normal(0, 0.5, (M, N))


@pytest.fixture
def logs() -> np.ndarray:
    return levels(np.random.default_rng(0))


def test_nothing_is_said_of_an_ordinary_table(logs: np.ndarray) -> None:
    """Logs, ratios, planted networks of several noises: no finding."""
    planted = [simulate(80, 60, 4, noise=noise, random_state=0).data for noise in (0, 0.3, 1)]
    for table in (logs, logs - logs.mean(axis=0), logs - logs[0], *planted):
        said = check(table)
        assert said.warnings == said.errors == ()


@pytest.mark.parametrize("title", ["start", "Length", "gene_end"])
@pytest.mark.parametrize("kind", ["logs", "counts"])
def test_a_column_of_positions_is_no_sample(logs: np.ndarray, kind: str, title: str) -> None:
    """By its title, whatever its numbers; told with the option that leaves it out."""
    rng = np.random.default_rng(1)
    table = logs if kind == "logs" else rng.poisson(2**logs).astype(float)
    table = np.vstack([np.sort(rng.choice(5_000_000, 200, replace=False)), table])
    names = [title, *(f"s{i}" for i in range(40))]
    said = check(table, samples=names, file_columns="samples")
    assert f"--drop {title}" in said.warnings[0]
    assert "5,000,000" not in dict(said.facts)["values"]  # the others tell what values are
    assert ("counts" in dict(said.facts)["values"]) == (kind == "counts")


@pytest.mark.parametrize("n_samples", [5, 40])
def test_a_sample_of_another_kind_is_told_whatever_it_is_called(n_samples: int) -> None:
    """Whole numbers beside fractions, or far larger ones; several at several scales too."""
    logs = levels(np.random.default_rng(0), n_samples)
    whole = np.arange(200.0)[::-1] % 17
    said = check(np.vstack([logs, whole]), samples=[*map(str, range(n_samples)), "odd"])
    assert "'odd' (whole numbers where the others have fractions)" in said.warnings[0]
    large = np.vstack([logs, logs[0] * 7e3 + 0.1, logs[1] * 3e6 + 0.1])
    (warning,) = check(large).warnings
    assert f"{n_samples}, {n_samples + 1} (values far larger" in warning


def test_a_variable_of_another_scale_is_named(logs: np.ndarray) -> None:
    """Such as a total left in the table."""
    total = np.hstack([logs, 1e5 * np.random.default_rng(1).normal(size=(40, 1))])
    names = [*(f"g{j}" for j in range(200)), "total reads"]
    said = check(total, variables=names, file_columns="variables")
    assert "'total reads'" in said.warnings[0]
    assert "--drop 'total reads'" in said.warnings[0]


@pytest.mark.parametrize("shape", [(100, 60, 3), (60, 80, 5), (100, 200, 10)])
def test_a_variable_a_hundred_times_larger_is_named(shape: tuple[int, int, int]) -> None:
    """Also where most variables follow no regulator and have the spread of noise."""
    truth = simulate(*shape, noise=0.1, random_state=0)
    size = np.abs(truth.network).max(axis=0)
    middle = int(np.argsort(size)[-(size > 0).sum() // 2])  # of a middling target
    large = truth.data.copy()
    large[:, middle] *= 100
    (warning,) = check(large).warnings
    assert f"1 variable with a spread more than tenfold that of all others: {middle}." in warning
    assert check(truth.data).warnings == ()


def test_of_scales_more_than_tenfold_all_others() -> None:
    """A tenth of them at most; and none where half of the table is in other units."""
    scale = np.ones(40)
    scale[:4] = [11, 12, 1300, 14]
    assert list(np.flatnonzero(tenfold_above(scale))) == [0, 1, 2, 3]
    scale[0] = 9.0  # below it there is no gap of ten: only the largest is beyond all others
    assert list(np.flatnonzero(tenfold_above(scale))) == [2]
    scale[:20] = 100
    assert not tenfold_above(scale).any()
    assert not tenfold_above(np.zeros(40)).any()


@given(st.integers(0, 2**32 - 1), st.sampled_from([5, 20, 100, 1000]))
def test_scales_that_vary_as_they_do_in_practice_are_not_apart(seed: int, n: int) -> None:
    """Log-normal scales: a chance gap as wide as all the others is tenfold besides."""
    scale = np.exp(np.random.default_rng(seed).normal(0, 0.5, n))
    assert not far_above(scale).any()
    assert not far_above(np.zeros(n)).any()
    assert list(np.flatnonzero(far_above(np.append(scale, 1e6 * scale.max())))) == [n]


def test_counts_and_amounts_are_to_be_logged(logs: np.ndarray) -> None:
    """Raw counts, sparse ones too, and amounts; not their logs, and not small classes."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(2**logs).astype(float)
    for table in (counts, sparse.csr_matrix(counts), rng.poisson(3, (30, 20)).astype(float)):
        assert "raw counts" in check(table).warnings[0]
        assert "--log" in check(table).warnings[0]
    assert "no logs were taken" in check(2**logs + 0.01).warnings[0]
    assert "no logs were taken" in check(1e-9 * 2**logs).warnings[0]  # in any unit
    for table in (np.log2(counts + 1), rng.integers(0, 3, (30, 20)).astype(float)):
        assert check(table).warnings == ()
    assert dict(check(rng.integers(0, 2, (30, 20)) > 0).facts)["values"] == "0 and 1 only"


def test_long_upper_tails_that_logs_take_away_are_to_be_logged() -> None:
    """Also where no few values dominate a sample, and with holes. Not clusters, whose tails stay,
    nor logs."""
    rng = np.random.default_rng(0)
    logs = rng.normal(0, 0.5, (80, 200))
    amounts = np.exp(logs)
    holes = np.where(rng.random(logs.shape) < 0.2, np.nan, amounts)
    for table in (amounts, holes):
        assert "with long upper tails" in dict(check(table).facts)["values"]
        assert "np.log2(X)" in check(table).warnings[0]
    clusters = 5 + (rng.random(logs.shape) < 0.1) + 0.05 * rng.standard_normal(logs.shape)
    for table in (logs + 5, clusters):
        assert check(table).warnings == ()


def test_centred_and_unit_variance_are_told(logs: np.ndarray) -> None:
    """By either divisor of the variance, and in single precision."""
    centred = logs - logs.mean(axis=0)
    assert dict(check(centred).facts)["values"].endswith("variables are centred")
    for ddof in (0, 1):
        unit = (centred / centred.std(axis=0, ddof=ddof)).astype(np.float32)
        assert dict(check(unit).facts)["values"].endswith("are centred and of unit variance")
    assert "variables are" not in dict(check(logs).facts)["values"]


def test_fixed_sums_lose_a_direction(logs: np.ndarray) -> None:
    """Proportions and fixed library sizes, rounded or not; centred samples are only told."""
    amounts = 2**logs
    shares = amounts / amounts.sum(axis=1, keepdims=True)
    for table, total in ((shares, "1"), ((1e6 * shares).round(2), "1e+06|1,000,000|1000000")):
        said = check(table)
        assert any(f"sum to {word}" in dict(said.facts)["sums"] for word in total.split("|"))
        assert any("center=False" in warning for warning in said.warnings)
    centred = check(logs - logs.mean(axis=1, keepdims=True))
    assert dict(centred.facts)["sums"] == "sum to 0: samples were centred"
    assert centred.warnings == ()
    assert "sums" not in dict(check(amounts).facts)


def test_constants_and_copies_go_by_name(logs: np.ndarray) -> None:
    """Names, not numbers."""
    logs[:, 3] = 1.5
    logs[:, 7] = logs[:, 5]
    logs[4] = logs[2]
    samples, variables = [f"s{i}" for i in range(40)], [f"g{j}" for j in range(200)]
    said = check(logs, samples=samples, variables=variables)
    assert "1 variable constant: 'g3'; nothing can regulate a constant." in said.notes
    assert "1 sample is an exact copy of another: 's4' = 's2'." in said.notes
    assert "1 variable is an exact copy of another: 'g7' = 'g5'." in said.notes


def test_values_at_a_limit_of_detection_are_a_warning(logs: np.ndarray) -> None:
    """Cut at one value, or filled in with each variable's own smallest one; not zeros of amounts,
    not whole numbers, and not the one smallest value that every variable has."""
    values = logs - logs.mean(axis=0)

    def told(table: np.ndarray) -> list[str]:
        return [one for one in check(table).warnings if "limit of detection" in one]

    assert told(values) == []
    (cut,) = told(np.maximum(values, np.quantile(values, 0.3)))
    assert "30% of the values are" in cut
    low = values.min(axis=0)
    (filled,) = told(np.where(values < np.quantile(values, 0.25, axis=0), low, values))
    assert "the smallest one of their variable" in filled
    assert "X[X == X.min(axis=0)] = np.nan" in filled
    assert told(np.maximum(values, 0)) == []
    assert told(np.maximum(np.round(values), -1)) == []
    assert told(np.where(values < np.quantile(values, 0.05), values.min(), values)) == []


def test_many_copies_of_variables_are_a_warning() -> None:
    """A third of the variables twice: their shared noise looks like regulators."""
    values = np.random.default_rng(0).standard_normal((12, 9))
    said = check(np.column_stack([values, values[:, :3]]))
    (warning,) = [one for one in said.warnings if "exact copies" in one]
    assert "3 variables are exact copies" in warning
    assert "keep one of each" in warning
    assert check(np.column_stack([values, values[:, :3]])[:8]).warnings == ()


def test_missing_values_are_counted(logs: np.ndarray) -> None:
    """And hide nothing else."""
    logs[::7, ::11] = np.nan
    said = check(logs)
    assert dict(said.facts)["missing"] == f"{np.isnan(logs).sum()} values (1.43%)"
    assert said.warnings == ()


def test_of_a_large_table_some_samples_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Evenly spread, with their own names; and the check says so."""
    monkeypatch.setattr("rcweb.tables.look.MOST_LOOKED_AT", 3000)
    table = np.random.default_rng(0).normal(size=(1000, 30))
    look = look_at(table, samples=[f"s{i}" for i in range(1000)])
    assert len(look.rows) == 100
    assert not look.complete
    assert look.sample(99) == "'s999'"
    np.testing.assert_array_equal(look.values, table[look.rows])
    assert dict(check_look(look).facts)["missing"] == "none in the 100 samples looked at"


@given(
    st.sampled_from([(1, 1), (2, 2), (3, 5), (12, 7)]),
    st.sampled_from([0.0, 1.0, 1e300, 1e-300, np.nan, -5.0]),
    st.integers(0, 2**32 - 1),
)
def test_no_table_breaks_the_check(shape: tuple[int, int], value: float, seed: int) -> None:
    """Empty, huge, tiny, missing: it says something, without a warning of NumPy."""
    table = np.random.default_rng(seed).normal(size=shape)
    table[:, 0] = value
    table[-1] = value
    text = str(check(table))
    assert text.startswith("Input:\n  values")
