"""Which tables are read in blocks, by their type; optional libraries are never imported to see."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rcweb.blocks.arrays import Sliced
from rcweb.blocks.base import Blocks, block_rows
from rcweb.blocks.local import Local
from rcweb.blocks.route import route_of
from rcweb.tables.codecs import check_zarr
from rcweb.tables.hdf5 import check_hdf5

ENDINGS = (".npy", ".zarr", ".h5ad", ".parquet")


def as_blocks(X: Any) -> Blocks | None:
    """The blocks of a dask or zarr array, an AnnData object, a memory-mapped array, or a path to a
    file of one of ``ENDINGS``; None for what scikit-learn can validate."""
    if isinstance(X, Local):
        return X
    if isinstance(X, str | Path):
        return open_blocks(X)
    if _is(X, "anndata", "AnnData"):
        return anndata_blocks(X)
    if _is(X, "dask.array", "Array"):
        from rcweb.blocks.chunked import Chunked

        return Chunked.of(X)
    if isinstance(X, np.memmap) or _is(X, "zarr", "Array") or _is(X, "h5py", "Dataset"):
        return _table(X)
    return None


def in_blocks(X: Any) -> Local | None:
    """The blocks of a validated table in memory: sparse, or so large that blocks save memory. The
    others would be one block, and taken whole they give the same bits."""
    if sparse.issparse(X):
        return sparse_blocks(X)
    route = route_of(*X.shape)
    several = len(X) > block_rows(X.shape[1])
    return Local(Sliced(X)) if route == "axes" or (route == "gram" and several) else None


def sparse_blocks(X: Any) -> Local:
    """The blocks of a scipy sparse matrix."""
    return Local(Sliced(sparse.csr_array(X)))


def open_blocks(path: str | Path, *, layer: str | None = None) -> Local:
    """A table on disk, of which only blocks are read. Rows are samples; `layer` of an AnnData."""
    path = Path(path)
    if not path.exists():
        raise ValueError(f"There is no file {str(path)!r}.")
    kind = path.suffix.lower()
    if kind == ".npy":
        return _table(np.load(path, mmap_mode="r", allow_pickle=False))
    if kind == ".parquet":
        from rcweb.blocks.parquet import Parquet

        table = Parquet(path)
        return Local(table, table.names, table.samples)
    if kind == ".zarr":
        check_zarr(path)
        return _table(_import("zarr", "scale").open_array(str(path), mode="r"))
    if kind == ".h5ad":
        library = _import("anndata", "anndata")
        check_hdf5(path, fits=False)
        return anndata_blocks(library.read_h5ad(path, backed="r"), layer)
    raise ValueError(
        f"The ending {kind or '(none)'!r} says no format that is read in blocks; "
        f"known are {', '.join(ENDINGS)}."
    )


def _is(X: Any, module: str, name: str) -> bool:
    """Whether X is of a type of a library; without it there is no such X."""
    library = sys.modules.get(module)
    return library is not None and isinstance(X, getattr(library, name))


def _import(name: str, extra: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise ImportError(f"This table needs {name}: pip install 'rcweb[{extra}]'") from None


def _table(values: NDArray[Any]) -> Local:
    if len(values.shape) != 2:
        raise ValueError(f"A table has two dimensions; this array has {len(values.shape)}.")
    if values.dtype.kind not in "biuf":
        raise ValueError(f"The array holds {values.dtype}, not numbers.")
    return Local(Sliced(values))


def anndata_blocks(adata: Any, layer: str | None = None) -> Local:
    """``X`` or a layer, in memory or backed; sparse columns are read whole, since rows of them
    cannot be."""
    if layer is not None and layer not in adata.layers:
        raise ValueError(f"There is no layer {layer!r}.")
    values = adata.X if layer is None else adata.layers[layer]
    if values is None:
        raise ValueError("The AnnData object has no X; name a layer.")
    if getattr(values, "format", "csr") == "csc":
        values = sparse.csr_array(values.to_memory() if hasattr(values, "to_memory") else values)
    names, samples = tuple(map(str, adata.var_names)), tuple(map(str, adata.obs_names))
    return Local(Sliced(values), names, samples)
