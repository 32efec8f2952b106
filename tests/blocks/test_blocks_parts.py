"""The parts of reading in blocks, each against a slow twin or its definition; what is refused."""

from __future__ import annotations

from pathlib import Path
from time import sleep
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import rcweb.blocks.base as base
import rcweb.blocks.route as route
from rcweb import RCweb
from rcweb.blocks import Reader, as_blocks, condense, open_blocks, route_of, transform_blocks
from rcweb.blocks.arrays import Sliced
from rcweb.blocks.base import Parts, Step, block_rows, join
from rcweb.blocks.local import Local
from rcweb.blocks.steps import Centring, Moments
from rcweb.lab.simulate import simulate


def mixed(seed: int, n: int = 40, N: int = 9) -> np.ndarray:
    """Full, sparse, empty and constant columns."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, N)) * (rng.random((n, N)) < 0.3)
    X[:, 0] = 1e5 + rng.standard_normal(n)
    X[:, 1], X[:, 2] = 0.0, 3.0
    return X


@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(["dense", "sparse"]))
def test_first_pass_of_a_block(seed: int, kind: str) -> None:
    """Extremes, mean, power, products and wanted rows are those of the definition."""
    X = mixed(seed)
    W = np.random.default_rng(seed).standard_normal((9, 4))
    block: Any = sparse.csr_array(X) if kind == "sparse" else X
    wanted = np.array([0, 103, 117, 139, 500])
    for step in (Moments(None, wanted), Moments(None, wanted, W)):
        low, high, count, mean, power, product, rows = step(block, 100)
        centred = X - X.mean(axis=0)
        expected = centred.T @ centred
        np.testing.assert_array_equal(low, X.min(axis=0))
        np.testing.assert_array_equal(high, X.max(axis=0))
        assert count == [40]
        np.testing.assert_allclose(mean[0], X.mean(axis=0), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(power, np.diag(expected), rtol=1e-9, atol=1e-9)
        if step.W is not None:
            expected = expected @ W
        np.testing.assert_allclose(product, expected, rtol=1e-9, atol=1e-7)
        np.testing.assert_array_equal(rows, X[[3, 17, 39]])


@given(seed=st.integers(0, 2**32 - 1), divided=st.booleans())
def test_sparse_rows_are_centred_without_being_dense(seed: int, divided: bool) -> None:
    """Activities and products of sparse rows equal those of the dense ones."""
    X = mixed(seed)
    rng = np.random.default_rng(seed)
    centring = Centring(rng.standard_normal(9), 2.0 ** rng.integers(-3, 4, 9) if divided else None)
    W = rng.standard_normal((9, 3))
    block = sparse.csr_array(X)
    for name in ("activities", "product"):
        found, expected = getattr(centring, name)(block, W), getattr(centring, name)(X, W)
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())


class Four(Step):
    """One array of every rule; how often it was closed."""

    rules = ("sum", "low", "high", "rows")
    closed = 0

    def close(self, parts: Parts) -> Parts:
        Four.closed += 1
        return parts


def test_parts_join_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums add, extremes compete, rows follow each other; the parts themselves stay as they are;
    groups are closed on the way, so that what is kept per block does not pile up."""
    monkeypatch.setattr(base, "GROUP", 3)
    parts = [(np.array([float(k)]), *3 * (np.array([k]),)) for k in range(7)]
    total = join(Four(), iter(parts))
    assert [part.tolist() for part in total] == [[21.0], [0], [6], list(range(7))]
    assert parts[0][0] == 0.0
    assert Four.closed == 5


def test_rows_of_a_block() -> None:
    """32 MB; not below 512 rows; a quarter of N where the block gives an N x N matrix."""
    assert block_rows(1000) == 4194
    assert block_rows(20_000) == 512
    assert block_rows(8000) == 2000


@pytest.mark.parametrize(
    ("shape", "route"),
    [
        ((100, 50), "gram"),
        ((10**9, 8000), "gram"),
        ((10**9, 8001), "axes"),
        ((100, 20_000), "rows"),
        ((8000, 16_000), "rows"),
        ((8000, 20_000), "axes"),
        ((9000, 9000), "axes"),
    ],
)
def test_the_shape_decides_the_route(shape: tuple[int, int], route: str) -> None:
    """No matrix with a side above 8,000 on both sides, none of rows above a gigabyte."""
    assert route_of(*shape) == route


@pytest.mark.parametrize("filled", [True, False])
def test_range_finder_keeps_the_leading_axes(filled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leading singular values are exact to 1e-6, the power of each variable to rounding."""
    X = simulate(900, 300, 5, noise=0.3, random_state=0).data
    X = X if filled else np.where(np.quantile(X, 0.8, axis=0) < X, X, 0.0)
    s = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    monkeypatch.setattr(route, "MOST_GRAM", 100)
    blocks = Local(Sliced(X if filled else sparse.csr_array(X)))
    _, table, _ = condense(Reader(blocks, print), 5, center=True)
    assert table.axes is not None
    assert table.axes.shape == (45, 300)
    np.testing.assert_allclose(table.leading(5).values, s[:5], rtol=1e-6)
    np.testing.assert_allclose(table.power, (X - X.mean(axis=0)).var(axis=0) * 900, rtol=1e-9)


def test_axes_double_while_signal_fills_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """With an unknown number of regulators there are always more axes than signal."""
    import rcweb.blocks.streamed as streamed

    monkeypatch.setattr(route, "MOST_GRAM", 100)
    monkeypatch.setattr(route, "FIRST_AXES", 8)
    X = simulate(900, 300, 12, noise=0.3, random_state=0).data
    model = RCweb(random_state=0).fit(X)
    assert model.route_ == "axes"
    assert model.n_components_ == 12
    assert model.passes_ > streamed.RANGE_PASSES


@pytest.mark.parametrize("center", [True, False])
def test_a_table_that_is_not_centred(center: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """`center=False` keeps the means in the products, whatever the blocks."""
    monkeypatch.setattr(base, "FEWEST_ROWS", 100)
    monkeypatch.setattr(base, "BLOCK_ENTRIES", 1)
    X = simulate(500, 30, 3, noise=0.3, random_state=0).data + 2
    _, table, _ = condense(Reader(Local(Sliced(X)), print), 3, center=center)
    G0 = X - X.mean(axis=0) if center else X
    np.testing.assert_allclose(table.gram, G0.T @ G0, rtol=1e-10)


def small() -> np.ndarray:
    """So clear that the posterior is not sampled."""
    return simulate(200, 30, 3, noise=0.05, random_state=0).data


@pytest.fixture(scope="module")
def small_model() -> RCweb:
    return RCweb(3, random_state=0).fit(small())


@pytest.mark.parametrize("name", ["a.npy", "a.zarr"])
@pytest.mark.parametrize("chunked", [True, False])
def test_activities_are_written_block_by_block(
    name: str, chunked: bool, small_model: RCweb, tmp_path: Path
) -> None:
    """The file holds the numbers of `transform`, from a file and from a dask array."""
    if name.endswith("zarr"):
        pytest.importorskip("zarr")
    X, model = small(), small_model
    np.save(tmp_path / "x.npy", X)
    source: Any = tmp_path / "x.npy"
    if chunked:
        source = pytest.importorskip("dask.array").from_array(X, chunks=(70, 8))
    transform_blocks(model, source, tmp_path / name)
    written = open_blocks(tmp_path / name).rows.read(0, 200)
    np.testing.assert_allclose(written, model.transform(X), atol=1e-12)
    with pytest.raises(ValueError, match=r"must end in \.npy or \.zarr"):
        transform_blocks(model, source, tmp_path / "a.csv")


class OneChunk:
    """A target that is read, changed and written back as a whole, as a chunk of zarr is."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.values = np.zeros(shape)

    def __setitem__(self, rows: slice, values: np.ndarray) -> None:
        whole = self.values.copy()
        sleep(0.005)
        whole[rows] = values
        self.values = whole


def test_blocks_of_one_chunk_do_not_overwrite_each_other(
    small_model: RCweb, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads write to the same chunk, one after the other."""
    monkeypatch.setattr(base, "FEWEST_ROWS", 20)
    monkeypatch.setattr(base, "BLOCK_ENTRIES", 20 * 30)
    X, model = small(), small_model
    out = transform_blocks(model, Local(Sliced(X), threads=4), OneChunk((200, 3)))
    np.testing.assert_allclose(out.values, model.transform(X), atol=1e-12)


def test_score_of_stored_tables(small_model: RCweb, tmp_path: Path) -> None:
    """Explained variance is the same for sparse rows and files."""
    X, model = small(), small_model
    np.save(tmp_path / "x.npy", X)
    for stored in (sparse.csr_array(X), tmp_path / "x.npy"):
        assert model.score(stored) == pytest.approx(model.score(X), abs=1e-10)


def test_progress_tells_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines name the pass, the samples read and the seconds left; the last one what it took."""
    import rcweb.blocks.reader as reader

    monkeypatch.setattr(reader, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(base, "FEWEST_ROWS", 100)
    monkeypatch.setattr(base, "BLOCK_ENTRIES", 1)
    lines: list[str] = []
    condense(Reader(Local(Sliced(small())), lines.append), 3, center=True)
    assert lines[0].startswith("pass 1: 100 of 200 samples, ")
    assert lines[0].endswith(" s left")
    assert lines[-1].startswith("pass 1: 200 of 200 samples, ")


# --- what is refused ---


def test_other_variables_are_refused(tmp_path: Path) -> None:
    """A table of another width, or with other names, is not transformed."""
    pytest.importorskip("pyarrow")
    X = pd.DataFrame(small(), columns=[f"g{j}" for j in range(30)])
    X.to_parquet(tmp_path / "x.parquet")
    X.rename(columns={"g3": "other"}).to_parquet(tmp_path / "y.parquet")
    np.save(tmp_path / "x.npy", small()[:, :20])
    model = RCweb(3, random_state=0).fit(tmp_path / "x.parquet")
    with pytest.raises(ValueError, match="Variable 3 is 'other', but the model was fitted to 'g3'"):
        model.transform(tmp_path / "y.parquet")
    with pytest.raises(ValueError, match="X has 20 features, but RCweb is expecting 30"):
        model.transform(tmp_path / "x.npy")


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    """Missing files, unknown endings, other dimensions and text say so."""
    with pytest.raises(ValueError, match="There is no file"):
        open_blocks(tmp_path / "nothing.npy")
    (tmp_path / "x.doc").touch()
    with pytest.raises(ValueError, match=r"cannot be read in blocks; use one of \.npy"):
        open_blocks(tmp_path / "x.doc")
    np.save(tmp_path / "x.npy", np.zeros(3))
    with pytest.raises(ValueError, match="two dimensions"):
        open_blocks(tmp_path / "x.npy")
    np.save(tmp_path / "x.npy", np.array([["a"]]))
    with pytest.raises(ValueError, match="not numbers"):
        open_blocks(tmp_path / "x.npy")
    np.save(tmp_path / "x.npy", np.zeros((1, 5)))
    with pytest.raises(ValueError, match="1 samples and 5 variables"):
        RCweb(1).fit(tmp_path / "x.npy")


def test_published_method_takes_what_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small stored tables are brought together for method="paper"; large ones are refused."""
    import rcweb.blocks.streamed as streamed

    X = small()
    here, stored = (
        RCweb(3, method="paper").fit(X),
        RCweb(3, method="paper").fit(sparse.csr_array(X)),
    )
    np.testing.assert_array_equal(here.components_, stored.components_)
    monkeypatch.setattr(streamed, "MOST_GATHERED", 100)
    with pytest.raises(ValueError, match="Use method='refined'"):
        RCweb(3, method="paper").fit(sparse.csr_array(X))


def test_dask_arrays_of_unknown_length() -> None:
    """Their chunk sizes must be computed first, and the error says how."""
    da = pytest.importorskip("dask.array")
    X = da.from_array(small(), chunks=(50, -1))
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        as_blocks(X[X[:, 0] > 0])
