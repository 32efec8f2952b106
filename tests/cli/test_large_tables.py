"""The command line on tables that are read in blocks, and on sparse ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import rcweb.blocks.large as large
from rcweb.cli.app import run as cli
from rcweb.estimator import load_model
from rcweb.lab.simulate import simulate


def run(*arguments: str | Path) -> None:
    assert cli([*map(str, arguments), "-q"]) == 0


def table() -> np.ndarray:
    return simulate(300, 60, 3, noise=0.3, random_state=0).data


def test_zarr_in_and_chunks_out(tmp_path: Path) -> None:
    """A zarr folder is fitted and transformed to .npy, .zarr and .tsv with the same numbers."""
    zarr = pytest.importorskip("zarr")
    zarr.create_array(str(tmp_path / "x.zarr"), data=table(), chunks=(100, 60))
    run("fit", tmp_path / "x.zarr", "-o", tmp_path / "out", "--components", "3")
    names = ("a.npy", "a.zarr", "a.tsv")
    for name in names:
        run("transform", tmp_path / "out", tmp_path / "x.zarr", "-o", tmp_path / name)
    expected = load_model(tmp_path / "out" / "model.rcweb").transform(tmp_path / "x.zarr")
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), expected)
    np.testing.assert_array_equal(zarr.open_array(str(tmp_path / "a.zarr"))[:], expected)
    text = pd.read_csv(tmp_path / "a.tsv", sep="\t", index_col=0)
    np.testing.assert_allclose(text.to_numpy(), expected)
    assert list(text.index[:2]) == ["sample0", "sample1"]


def test_large_files_give_the_network_of_small_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond the limit a parquet file is read in blocks, names included; numbers change in their
    last digits only, since sums are made in another order (docs/scale.md)."""
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(table(), columns=[f"g{j}" for j in range(60)])
    frame.index = pd.Index([f"s{i}" for i in range(300)], name="sample")
    frame.to_parquet(tmp_path / "x.parquet")
    fit = ("fit", tmp_path / "x.parquet", "--components", "3", "--no-transpose", "-o")
    run(*fit, tmp_path / "whole")
    monkeypatch.setattr(large, "LARGE_BYTES", 1)
    run(*fit, tmp_path / "blocks")
    for name in ("network.tsv", "activities.tsv"):
        whole, blocks = (
            pd.read_csv(tmp_path / out / name, sep="\t") for out in ("whole", "blocks")
        )
        pd.testing.assert_frame_equal(whole, blocks, rtol=1e-10)
    assert (tmp_path / "blocks" / "network.graphml").exists()


def test_sparse_h5ad_stays_sparse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sparse counts are fitted without being made dense."""
    anndata = pytest.importorskip("anndata")
    X = sparse.csr_matrix(np.maximum(table(), 0))
    anndata.AnnData(X).write_h5ad(tmp_path / "x.h5ad")

    def refuse(*args: object, **options: object) -> None:
        raise AssertionError("made dense")

    monkeypatch.setattr(sparse.csr_matrix, "toarray", refuse)
    run("fit", tmp_path / "x.h5ad", "-o", tmp_path / "out", "--components", "3")
