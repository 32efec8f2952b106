"""Which tables are read in blocks, by their type. Optional libraries are not imported for that."""

from __future__ import annotations

import sys
from collections.abc import Callable
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


def as_blocks(X: Any) -> Blocks | None:
    """The blocks of a dask or zarr array, an AnnData object, a memory-mapped array, or a path to a
    file of one of the types in `OPENERS`; None for what scikit-learn can validate."""
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
    """The blocks of a validated table in memory, if it is sparse or blocks save memory.

    Else None: processed whole, the table gives the same bits.
    """
    if sparse.issparse(X):
        return sparse_blocks(X)
    route = route_of(*X.shape)
    several = len(X) > block_rows(X.shape[1])
    return Local(Sliced(X)) if route == "axes" or (route == "gram" and several) else None


def sparse_blocks(X: Any) -> Local:
    """The blocks of a scipy sparse matrix."""
    return Local(Sliced(sparse.csr_array(X)))


def open_blocks(path: str | Path, *, layer: str | None = None) -> Local:
    """Open a table on disk to be read in blocks; rows are samples.

    path : of a .npy, .zarr, .h5ad or .parquet file; ValueError for others
    layer : of an AnnData file, instead of ``X``

    The result is accepted by `rcweb.RCweb.fit`, `rcweb.RCweb.transform` and `transform_blocks`. A
    path without a layer needs no opening: ``fit(path)``.

    Examples
    --------
    >>> from anndata import AnnData
    >>> from rcweb import RCweb
    >>> from rcweb.blocks import open_blocks
    >>> from rcweb.simulate import simulate
    >>> X = simulate(60, 40, 3, random_state=0).data
    >>> AnnData(X, layers={"logged": X}).write_h5ad("cells.h5ad")
    >>> RCweb(3).fit(open_blocks("cells.h5ad", layer="logged")).network_
    Network(3 regulators, 40 targets, 15 edges)
    """
    path = Path(path)
    if not path.exists():
        raise ValueError(f"There is no file {str(path)!r}.")
    kind = path.suffix.lower()
    if kind not in OPENERS:
        raise ValueError(
            f"The file type {kind or '(none)'!r} cannot be read in blocks; "
            f"use one of {', '.join(OPENERS)}."
        )
    return OPENERS[kind](path, layer)


def _open_npy(path: Path, layer: str | None) -> Local:
    return _table(np.load(path, mmap_mode="r", allow_pickle=False))


def _open_parquet(path: Path, layer: str | None) -> Local:
    from rcweb.blocks.parquet import Parquet

    table = Parquet(path)
    return Local(table, table.names, table.samples)


def _open_zarr(path: Path, layer: str | None) -> Local:
    check_zarr(path)
    return _table(_import("zarr", "scale").open_array(str(path), mode="r"))


def _open_h5ad(path: Path, layer: str | None) -> Local:
    library = _import("anndata", "anndata")
    check_hdf5(path, fits=False)
    return anndata_blocks(library.read_h5ad(path, backed="r"), layer)


# How each file type is opened. A new type is a function to `Local` and a line here.
OPENERS: dict[str, Callable[[Path, str | None], Local]] = {
    ".npy": _open_npy,
    ".zarr": _open_zarr,
    ".h5ad": _open_h5ad,
    ".parquet": _open_parquet,
}


def _is(X: Any, module: str, name: str) -> bool:
    """Whether X is an instance of a library's class; if nobody imported the library, it is not."""
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
    if values.dtype.kind not in "biuf":  # bool, integers, floats
        raise ValueError(f"The array holds {values.dtype}, not numbers.")
    return Local(Sliced(values))


def anndata_blocks(adata: Any, layer: str | None = None) -> Local:
    """``X`` or a layer, in memory or backed. Compressed sparse columns are read whole, since they
    give no access by rows."""
    if layer is not None and layer not in adata.layers:
        raise ValueError(f"There is no layer {layer!r}.")
    values = adata.X if layer is None else adata.layers[layer]
    if values is None:
        raise ValueError("The AnnData object has no X; name a layer.")
    if getattr(values, "format", "csr") == "csc":
        values = sparse.csr_array(values.to_memory() if hasattr(values, "to_memory") else values)
    names, samples = tuple(map(str, adata.var_names)), tuple(map(str, adata.obs_names))
    return Local(Sliced(values), names, samples)
