"""Tables from files that are not text: parquet, NumPy, AnnData."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from rcweb.storage.arrays import ArrayError, array_from_bytes, read_zip
from rcweb.storage.errors import TableError, place, reason, shorten
from rcweb.storage.limits import check_fits, unpackable
from rcweb.tables.grid import Grid
from rcweb.tables.hdf5 import check_hdf5

# An .npz unpacks in memory; this is ten times the largest table one machine would fit.
MAX_NPZ_BYTES = 64 << 30
_SAMPLE_KEYS = ("samples", "obs_names", "rows", "index")
_VARIABLE_KEYS = ("variables", "var_names", "features", "genes", "columns")


def read_parquet(path: Path, drop: Sequence[str] = ()) -> Grid:
    """A parquet table; names of rows are its index, or its only column of text."""

    def load() -> pd.DataFrame:
        from pyarrow import parquet

        # A long run of one value takes a few bytes on disk: count rows to know the memory needed.
        metadata = parquet.read_metadata(path)
        groups = (metadata.row_group(i) for i in range(metadata.num_row_groups))
        n_cells = metadata.num_rows * metadata.num_columns
        check_fits(max(8 * n_cells, sum(group.total_byte_size for group in groups)), "the table")
        return pd.read_parquet(path)

    return frame_grid(_foreign(load, path, "parquet", "pyarrow", "tables"), drop)


def frame_grid(frame: pd.DataFrame, drop: Sequence[str] = ()) -> Grid:
    """A grid from a DataFrame; the index or a first column of text holds the row names."""
    frame = frame.rename(columns=str)
    unknown = [name for name in drop if name not in frame.columns]
    if unknown:
        raise TableError(f"There is no column titled {shorten(unknown[0])} to drop.")
    frame = frame.drop(columns=list(drop))
    if frame.shape[0] == 0 or frame.shape[1] == 0:
        raise TableError(f"The table is empty: {frame.shape[0]} rows, {frame.shape[1]} columns.")
    if frame.columns.has_duplicates:
        name = frame.columns[frame.columns.duplicated()][0]
        raise TableError(f"The column {shorten(name)} occurs twice; names must be unique.")
    # Dates are often gene names, such as MARCH1, that a spreadsheet converted.
    _refuse_dates(frame)
    text = [c for c in frame.columns if not pd.api.types.is_numeric_dtype(frame[c].dtype)]
    # Without an index of names, a first column of text plays that role, as in text files.
    if isinstance(frame.index, pd.RangeIndex) and text[:1] == [frame.columns[0]]:
        frame = frame.set_index(text.pop(0))
    if len(text) == frame.shape[1]:
        raise TableError(
            f"No column holds numbers; the first, {shorten(text[0])}, holds {frame[text[0]].dtype}."
        )
    frame = frame.drop(columns=text)
    named = not isinstance(frame.index, pd.RangeIndex)
    columns = tuple(frame.columns)
    return Grid(
        values=frame.to_numpy(dtype=np.float64, na_value=np.nan),
        rows=tuple(frame.index.astype(str)) if named else None,
        columns=columns,
        corner=str(frame.index.name or "") if named else "",
        column_place=lambda j: place(column=j + 1, name=columns[j]),
        set_aside=tuple(text),
    )


def _refuse_dates(frame: pd.DataFrame) -> None:
    for number, (name, dtype) in enumerate(zip(frame.columns, frame.dtypes), start=1):
        if dtype.kind in "mM":
            raise TableError(
                f"{place(column=number, name=name)}: dates and durations ({dtype}) are not "
                "measurements. Leave the column out with --drop."
            )


def read_npy(path: Path) -> Grid:
    """One matrix without names."""
    check_fits(2 * path.stat().st_size, "the matrix, twice for a moment,")
    return _matrix_grid(_array(path.read_bytes(), path.name), None, None)


def read_npz(path: Path) -> Grid:
    """A matrix ``X`` (or the only one), with names under ``samples`` and ``variables`` if there.

    ``scipy.sparse.save_npz`` files are read too and stay sparse.
    """
    try:
        members = read_zip(path, max_bytes=unpackable(MAX_NPZ_BYTES))
    except ArrayError as error:
        raise TableError(f"{path.name}: {error}.") from None
    arrays = {name.removesuffix(".npy"): _array(data, name) for name, data in members.items()}
    if {"format", "shape", "data", "indices", "indptr"} <= set(arrays):
        return _matrix_grid(_sparse(arrays), None, None)
    matrices = [name for name, array in arrays.items() if array.ndim == 2]
    key = "X" if "X" in matrices else "data" if "data" in matrices else None
    if key is None and len(matrices) == 1:
        key = matrices[0]
    if key is None:
        raise TableError(
            f"{path.name} holds {len(matrices)} matrices ({', '.join(matrices[:5])}); "
            "call the one to read X."
        )
    rows, columns = _names_in(arrays, _SAMPLE_KEYS), _names_in(arrays, _VARIABLE_KEYS)
    return _matrix_grid(arrays[key], rows, columns, "sample" if rows else "")


def _array(content: bytes, name: str) -> NDArray[Any]:
    try:
        return array_from_bytes(content)
    except ArrayError as error:
        raise TableError(f"{name}: {error}.") from None


def _sparse(arrays: dict[str, NDArray[Any]]) -> Any:
    kind = str(arrays["format"].item() if arrays["format"].size == 1 else "")
    # Older scipy stored the format as bytes.
    kind = kind.removeprefix("b'").removesuffix("'")
    makers = {"csr": sparse.csr_matrix, "csc": sparse.csc_matrix}
    if kind not in makers:
        raise TableError(f"A sparse matrix of format {kind!r} is not read; save it as csr.")
    try:
        matrix = makers[kind](
            (arrays["data"], arrays["indices"], arrays["indptr"]), shape=tuple(arrays["shape"])
        )
        # scipy does not check indices by itself; bad ones make compiled code read outside its
        # arrays.
        matrix.check_format(full_check=True)
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise TableError(f"The sparse matrix is damaged: {error}.") from None
    return matrix


def _names_in(arrays: dict[str, NDArray[Any]], keys: tuple[str, ...]) -> tuple[str, ...] | None:
    for key in keys:
        if key in arrays and arrays[key].ndim == 1:
            return tuple(map(str, arrays[key].tolist()))
    return None


def _matrix_grid(
    matrix: Any, rows: tuple[str, ...] | None, columns: tuple[str, ...] | None, corner: str = ""
) -> Grid:
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise TableError(
            f"A table has two dimensions, none of them 0; this has shape {matrix.shape}."
        )
    if matrix.dtype.kind not in "biuf":
        raise TableError(f"The matrix holds {matrix.dtype}, not numbers.")
    for names, size, side in (
        (rows, matrix.shape[0], "rows"),
        (columns, matrix.shape[1], "columns"),
    ):
        if names is not None and len(names) != size:
            raise TableError(f"There are {len(names)} names for {size} {side}.")
    if sparse.issparse(matrix):
        values = sparse.csr_matrix(matrix, dtype=np.float64)
    else:
        values = np.asarray(matrix, dtype=np.float64)
    return Grid(values, rows, columns, corner)


def read_h5ad(path: Path, layer: str | None = None) -> Grid:
    """``X``, or a layer, of an AnnData file; sparse stays sparse."""

    def load() -> Any:
        import anndata

        # Before anndata reads it: a small file may claim arrays larger than the memory.
        check_hdf5(path)
        return anndata.read_h5ad(path)

    adata = _foreign(load, path, "h5ad", "anndata", "anndata")
    return anndata_grid(adata, layer)


def anndata_grid(adata: Any, layer: str | None = None) -> Grid:
    """The matrix of an AnnData object with its names; rows are observations by definition."""
    if layer is not None and layer not in adata.layers:
        there = ", ".join(map(repr, adata.layers)) or "none"
        raise TableError(f"There is no layer {layer!r}; layers: {there}.")
    matrix = adata.X if layer is None else adata.layers[layer]
    if matrix is None:
        raise TableError("The AnnData object has no X; name a layer.")
    rows, columns = tuple(map(str, adata.obs_names)), tuple(map(str, adata.var_names))
    return replace(_matrix_grid(matrix, rows, columns, "sample"), rows_are_samples=True)


def _foreign(load: Callable[[], Any], path: Path, kind: str, package: str, extra: str) -> Any:
    """Call another library's reader; turn any error on a damaged file into `TableError`."""
    try:
        return load()
    except ImportError:
        raise ImportError(
            f"Reading {kind} files needs {package}: pip install 'rcweb[{extra}]'"
        ) from None
    except (MemoryError, TableError):
        raise
    # Readers raise many kinds of errors on damaged files.
    except Exception as error:
        raise TableError(f"{path.name} cannot be read as {kind}: {reason(error)}.") from None
