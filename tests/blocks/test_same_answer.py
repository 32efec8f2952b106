"""Every storage of a table gives the same network: to 1e-6, and to the bit where sums have the
same order."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from storages import SAME_ANSWER, SAME_BITS, dask_array, h5ad, npy, parquet

import rcweb.blocks.base as base
import rcweb.blocks.recognise as recognise
import rcweb.blocks.route as route
import rcweb.blocks.streamed as streamed
from rcweb import RCweb
from rcweb.blocks import open_blocks
from rcweb.blocks.local import Local
from rcweb.engine.matching import match_rows
from rcweb.engine.posterior.gibbs import Chain, Posterior
from rcweb.engine.prepare import prepare
from rcweb.lab.simulate import simulate

P = 6


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 400 rows instead of 32 MB, so that small tables have several."""
    monkeypatch.setattr(base, "BLOCK_ENTRIES", 1)
    monkeypatch.setattr(base, "FEWEST_ROWS", 400)


def plain(M: int = 1500, N: int = 120) -> np.ndarray:
    return simulate(M, N, P, noise=0.5, random_state=0).data


def tall() -> np.ndarray:
    """1,500 samples of 122 variables; some far from 0, some constant: they test centring."""
    X = plain()
    return np.column_stack([X[:, :20] + 100, np.full(1500, 7.0), X[:, 20:], np.zeros(1500)])


def counts() -> np.ndarray:
    """Three quarters zeros, all positive; the search is sure of its rows."""
    return np.where(tall() > 0.3, tall(), 0.0)


def unsure() -> np.ndarray:
    """So much noise that the posterior is sampled, here for 450 sweeps."""
    return simulate(1500, 60, P, noise=2.0, random_state=0).data


def stuck() -> np.ndarray:
    """Four fifths zeros: the posterior is sampled for 6,000 sweeps."""
    return np.where(tall() > 0.8, tall(), 0.0)


TABLES = {"tall": tall, "counts": counts, "unsure": unsure, "stuck": stuck}


def fit(X: Any, **options: Any) -> RCweb:
    return RCweb(P, random_state=0, **options).fit(X)


@cache
def in_memory(table: str, most_gram: int = 8000) -> RCweb:
    """The fit of the array in memory, made once; `most_gram` must be what the test has set."""
    assert most_gram == route.MOST_GRAM
    return fit(TABLES[table]())


def assert_same(model: RCweb, reference: RCweb) -> None:
    """Rounding of sums, 1e-15, reaches the network some thousand times larger: 1e-6 is ample."""
    pairs = match_rows(model.components_, reference.components_)
    assert len(pairs.found) == len(reference.components_) == len(model.components_)
    size = np.abs(reference.components_).max()
    aligned = model.components_[pairs.found] * np.sign(pairs.scale)[:, None]
    np.testing.assert_allclose(aligned / size, reference.components_[pairs.other] / size, atol=1e-6)
    np.testing.assert_allclose(
        model.edge_probability_[pairs.found], reference.edge_probability_[pairs.other], atol=1e-6
    )
    spread = np.abs(reference.mean_).max()
    np.testing.assert_allclose(model.mean_ / spread, reference.mean_ / spread, atol=1e-10)
    np.testing.assert_allclose(model.noise_, reference.noise_, rtol=1e-6)


@pytest.mark.parametrize("storage", SAME_BITS)
def test_same_bits_from_every_dense_storage(storage: str, tmp_path: Path) -> None:
    """A file on disk, whatever its chunks, gives the bits of the array in memory."""
    model, reference = fit(SAME_BITS[storage](tall(), tmp_path)), in_memory("tall")
    assert model.route_ == reference.route_ == "gram"
    np.testing.assert_array_equal(model.components_, reference.components_)
    np.testing.assert_array_equal(model.edge_probability_, reference.edge_probability_)


@pytest.mark.parametrize("storage", SAME_ANSWER)
def test_same_answer_from_every_storage(storage: str, tmp_path: Path) -> None:
    """Sparse and chunked tables, whose sums have another order, agree to 1e-6."""
    table = "counts" if "sparse" in storage else "tall"
    model = fit(SAME_ANSWER[storage](TABLES[table](), tmp_path))
    assert model.route_ == "gram"
    assert_same(model, in_memory(table))


@pytest.mark.parametrize("storage", ["csr", "zarr", "dask uneven", "parquet", "h5ad csr"])
@pytest.mark.parametrize("table", ["tall", "counts", pytest.param("stuck", marks=pytest.mark.slow)])
def test_same_answer_by_the_range_finder(
    storage: str, table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same, where the table is too large for products of all variables."""
    monkeypatch.setattr(route, "MOST_GRAM", 50)
    model = fit((SAME_BITS | SAME_ANSWER)[storage](TABLES[table](), tmp_path))
    reference = in_memory(table, 50)
    assert model.route_ == reference.route_ == "axes"
    assert model.passes_ >= streamed.RANGE_PASSES
    assert_same(model, reference)


@pytest.mark.parametrize("most_gram", [8000, 50])
@pytest.mark.parametrize("table", ["unsure", pytest.param("stuck", marks=pytest.mark.slow)])
def test_a_sampled_posterior_has_the_same_answer(
    table: str, most_gram: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hundreds of sweeps do not enlarge the rounding of sums: no draw is decided by it."""
    sweeps: list[int] = []
    usual = Chain.run

    def counted(chain: Chain, n: int, **options: Any) -> Posterior:
        sweeps.append(n)
        return usual(chain, n, **options)

    monkeypatch.setattr(Chain, "run", counted)
    monkeypatch.setattr(route, "MOST_GRAM", most_gram)
    model = fit(sparse.csr_array(TABLES[table]()))
    assert sweeps, "this table was to be sampled"
    assert_same(model, in_memory(table, most_gram))


def test_blocks_agree_with_the_table_taken_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 400 rows, one block and no blocks at all: the same network."""
    X = tall()
    blocks = in_memory("tall")
    monkeypatch.setattr(base, "FEWEST_ROWS", 2000)
    whole = fit(X)
    assert (blocks.route_, whole.route_) == ("gram", "memory")
    assert_same(blocks, whole)
    assert_same(fit(Local(recognise.Sliced(X))), whole)


def test_one_block_has_the_bits_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without constant variables a single block is the very product of the table in memory, if it
    comes in the order that a table in memory is given."""
    monkeypatch.setattr(base, "FEWEST_ROWS", 2000)
    X = plain()
    ready = prepare(X, center=True, arrange=True)
    block = fit(Local(recognise.Sliced(X[np.ix_(ready.samples, ready.columns)])))
    np.testing.assert_array_equal(block.components_, fit(X).components_[:, ready.columns])


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_change_no_bit(threads: int) -> None:
    """Parts are joined in the order of the blocks, whichever thread is first."""
    X = recognise.Sliced(tall())
    one = fit(Local(X, threads=1))
    np.testing.assert_array_equal(fit(Local(X, threads=threads)).components_, one.components_)


def test_few_samples_are_brought_together(tmp_path: Path) -> None:
    """With fewer samples than variables the rows are kept, and the bits are those in memory."""
    X = plain(50, 300)
    reference = fit(X)
    for stored in (npy(X, tmp_path), sparse.csr_array(X), dask_array((20, 50))(X, tmp_path)):
        np.testing.assert_array_equal(fit(stored).components_, reference.components_)


@pytest.fixture
def wild() -> np.ndarray:
    """One entry in 500 is wild: enough for limits to be set."""
    X = plain()
    rng = np.random.default_rng(0)
    return X + np.where(rng.random(X.shape) < 2e-3, 30.0, 0.0) * rng.standard_normal(X.shape)


@pytest.mark.parametrize("most_gram", [8000, 50])
def test_wild_entries_are_limited_block_by_block(
    wild: np.ndarray, most_gram: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Limits apply as blocks are read, and cost passes; the answer is that of the whole table."""
    da = pytest.importorskip("dask.array")
    monkeypatch.setattr(route, "MOST_GRAM", most_gram)
    blocks, chunked = fit(wild), fit(da.from_array(wild, chunks=(250, -1)))
    assert blocks.passes_ >= 2
    assert_same(chunked, blocks)
    if most_gram == 8000:
        monkeypatch.setattr(base, "FEWEST_ROWS", 2000)
        assert_same(blocks, fit(wild))


@pytest.mark.parametrize("size", [1e-130, 1e130])
def test_extreme_numbers(size: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Squares would vanish or overflow: the pass is repeated with the table rescaled."""
    X = size * plain()
    blocks, stored = fit(X), fit(sparse.csr_array(X))
    monkeypatch.setattr(base, "FEWEST_ROWS", 2000)
    whole = fit(X)
    assert whole.route_ == "memory"
    for model in (blocks, stored):
        assert model.passes_ >= 2
        assert_same(model, whole)


def test_units_of_all_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables in units from 1e-12 to 1e12 are brought to one spread, here as in memory."""
    X = plain() * 10.0 ** np.linspace(-12, 12, 120)
    models = [fit(X), fit(sparse.csr_array(X))]
    monkeypatch.setattr(base, "FEWEST_ROWS", 2000)
    whole = fit(X)
    assert whole.route_ == "memory"
    for model in models:
        assert model.passes_ >= 2
        np.testing.assert_allclose(model.components_, whole.components_, rtol=1e-6)


@pytest.mark.parametrize("kind", [np.float32, np.int16])
def test_other_types_of_numbers(kind: type, tmp_path: Path) -> None:
    """Numbers of another type are taken as they are: squares of small integers do not overflow."""
    X = np.round(300 * plain()).astype(kind)
    reference = fit(X.astype(np.float64))
    for stored in (npy(X, tmp_path), sparse.csr_array(X)):
        assert_same(fit(stored), reference)


def test_names_come_from_the_file(tmp_path: Path) -> None:
    """Columns of parquet and variables of AnnData name the targets; an index is no variable."""
    X = tall()
    for path in (parquet(X, tmp_path), h5ad(X, tmp_path)):
        model = fit(path)
        assert list(model.feature_names_in_[:2]) == ["g0", "g1"]
        assert model.n_features_in_ == X.shape[1] == open_blocks(path).shape[1]
