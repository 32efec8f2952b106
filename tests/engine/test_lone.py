"""A single wild entry neither destroys the fit nor goes unmentioned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from rcweb import RCweb
from rcweb.engine.lone import find_lone, lone_note, scatter_of
from rcweb.lab.simulate import simulate

TRUTH = simulate(100, 60, 3, random_state=0)
SIZES = [10.0, 1e2, 1e3, 1e4, -1e4, 1e6, 1e9, 1e200]

# The input check names the sample with the wild entry, too.
pytestmark = pytest.mark.filterwarnings("ignore::rcweb.tables.check.InputWarning")


def spoiled(size: float, sample: int = 47, variable: int = 30) -> np.ndarray:
    X = TRUTH.data.copy()
    X[sample, variable] = size
    return X


@pytest.mark.parametrize("size", SIZES)
def test_one_wild_entry_of_any_size(size: float) -> None:
    """The network of the table without it, edge by edge; and its sample and variable are named."""
    expected = RCweb(random_state=0).fit(TRUTH.data).components_ != 0
    names = [f"s{i}" for i in range(100)], [f"g{j}" for j in range(60)]
    table = pd.DataFrame(spoiled(size), *names)
    model = RCweb(random_state=0).fit(table)
    np.testing.assert_array_equal(model.components_ != 0, expected)
    (warning,) = model.warnings_
    assert "1 entry lies far outside" in warning
    assert f"sample 's47', variable 'g30' ({size:.3g})" in warning


@pytest.mark.parametrize("size", [1e4, 1e200])
def test_the_same_in_blocks(size: float) -> None:
    """A table read in blocks: replaced on the way, named by the same numbers."""
    whole = RCweb(random_state=0).fit(spoiled(size))
    blocks = RCweb(random_state=0).fit(sparse.csr_array(spoiled(size)))
    np.testing.assert_array_equal(blocks.components_ != 0, whole.components_ != 0)
    assert blocks.warnings_ == whole.warnings_
    assert "sample 47, variable 30 (" in blocks.warnings_[0]


def test_blocks_without_wild_entries_are_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extremes of the variables, which the first pass gives, tell that there are none."""
    monkeypatch.delattr("rcweb.blocks.streamed.FarEntries")
    RCweb(3, random_state=0).fit(sparse.csr_array(TRUTH.data))
    with pytest.raises(NameError, match="FarEntries"):
        RCweb(3, random_state=0).fit(sparse.csr_array(spoiled(1e4)))


def test_the_published_method_takes_entries_as_they_are() -> None:
    model = RCweb(3, method="paper").fit(spoiled(1e4))
    assert not any("far outside" in warning for warning in model.warnings_)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    shape=st.tuples(st.integers(3, 300), st.integers(3, 300)),
    noise=st.sampled_from([0.0, 0.1, 0.5]),
    kind=st.sampled_from(["homoscedastic", "per_variable"]),
)
def test_tables_without_wild_entries_keep_every_bit(
    seed: int, shape: tuple[int, int], noise: float, kind: str
) -> None:
    """Planted tables are handed on, not copied."""
    P = max(1, min(shape) // 10)
    X = simulate(*shape, P, noise=noise, noise_kind=kind, random_state=seed).data
    limited, lone = find_lone(X)
    assert limited is X
    assert len(lone) == 0


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    M=st.integers(20, 200),
    N=st.integers(2, 100),
    n=st.integers(1, 3),
    size=st.sampled_from([*SIZES[1:], 1e307]),
)
def test_exactly_the_wild_entries_are_replaced(
    seed: int, M: int, N: int, n: int, size: float
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((M, N))
    places = rng.choice(M * N, n, replace=False)
    X.flat[places] = size
    limited, lone = find_lone(X)
    assert {int(i) * N + int(j) for i, j, _ in lone} == set(places.tolist())
    assert (lone[:, 2] == size).all()
    assert (X.flat[places] == size).all(), "the user's table is not touched"
    others = np.setdiff1d(np.arange(M * N), places)
    np.testing.assert_array_equal(limited.flat[others], X.flat[others])
    assert np.abs(limited).max() < 10


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("heavy tails", lambda rng: rng.standard_cauchy((200, 100))),
        ("counts, mostly zero", lambda rng: rng.poisson(0.1, (200, 100)) * 1e3),
        ("a regulator on in two samples", lambda rng: on_in_two_samples(rng)),
        ("few samples", lambda rng: np.vstack([rng.standard_normal((18, 50)), np.full(50, 1e6)])),
    ],
)
def test_many_wild_entries_are_no_exceptions(kind: str, values: Any) -> None:
    """They belong to the table; what to do is told by a fit (`rcweb.engine.outliers`)."""
    X = np.asarray(values(np.random.default_rng(0)), dtype=np.float64)
    limited, lone = find_lone(X)
    assert limited is X, kind
    assert len(lone) == 0


def on_in_two_samples(rng: np.random.Generator) -> np.ndarray:
    X = rng.standard_normal((200, 100))
    X[[10, 50], :30] += 100.0
    return X


def test_constant_and_rounded_variables_have_no_scatter() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 3))
    X[:, 1] = 5.0
    X[:, 2] = 1e3 + 1e-11 * X[:, 2]
    scatter = scatter_of(X)
    assert scatter is not None
    assert np.isfinite(scatter.size).tolist() == [True, False, False]


def test_note_shows_a_few() -> None:
    entries = np.array([[i, 2 * i, 1e5] for i in range(8)], dtype=float)
    (note,) = lone_note(entries, None, None)
    assert note.startswith("8 entries lie far outside")
    assert "sample 4, variable 8 (1e+05) and 3 more." in note
    assert lone_note(entries[:0], None, None) == ()
