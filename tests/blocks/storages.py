"""Ways to store a table of 1,500 samples that `fit` and `transform` read in blocks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

Store = Callable[[np.ndarray, Path], Any]


def npy(X: np.ndarray, folder: Path) -> Path:
    np.save(folder / "x.npy", X)
    return folder / "x.npy"


def memmap(X: np.ndarray, folder: Path) -> np.ndarray:
    return np.load(npy(X, folder), mmap_mode="r")


def zarr_array(X: np.ndarray, folder: Path) -> Path:
    zarr = pytest.importorskip("zarr")
    values = zarr.create_array(str(folder / "x.zarr"), data=X, chunks=(333, 17))
    assert values.shape == X.shape
    return folder / "x.zarr"


def h5ad(X: Any, folder: Path) -> Path:
    anndata = pytest.importorskip("anndata")
    adata = anndata.AnnData(X, var=pd.DataFrame(index=[f"g{j}" for j in range(X.shape[1])]))
    adata.write_h5ad(folder / "x.h5ad")
    return folder / "x.h5ad"


def parquet(X: np.ndarray, folder: Path) -> Path:
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(X.shape[1])])
    frame.index = pd.Index([f"s{i}" for i in range(len(X))], name="sample")
    frame.to_parquet(folder / "x.parquet", row_group_size=271)
    return folder / "x.parquet"


def dask_array(chunks: Any) -> Store:
    def store(X: np.ndarray, folder: Path) -> Any:
        return pytest.importorskip("dask.array").from_array(X, chunks=chunks)

    return store


def dask_sparse(X: np.ndarray, folder: Path) -> Any:
    da = pytest.importorskip("dask.array")
    rows = da.from_array(X, chunks=(256, -1))
    return rows.map_blocks(sparse.csr_matrix, meta=sparse.csr_matrix((0, 0)))


# Sums in the order of the table in memory; the others only agree to rounding.
SAME_BITS: dict[str, Store] = {
    "npy": npy,
    "memmap": memmap,
    "zarr": zarr_array,
    "h5ad": h5ad,
    "parquet": parquet,
}
SAME_ANSWER: dict[str, Store] = {
    "csr": lambda X, folder: sparse.csr_array(X),
    "csc": lambda X, folder: sparse.csc_matrix(X),
    "sparse frame": lambda X, folder: pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X)),
    "h5ad csr": lambda X, folder: h5ad(sparse.csr_matrix(X), folder),
    "h5ad csc": lambda X, folder: h5ad(sparse.csc_matrix(X), folder),
    "dask 1 chunk": dask_array((1500, -1)),
    "dask 100": dask_array((100, 11)),
    "dask uneven": dask_array(((1, 700, 2, 797), -1)),
    "dask sparse": dask_sparse,
}
