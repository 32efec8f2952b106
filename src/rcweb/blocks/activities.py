"""Activities of the regulators block by block, ``(X - mean) @ projection``, and their errors."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import numpy as np

from rcweb.blocks.base import Blocks, Parts, RowBlock, Step, as_block, dense
from rcweb.blocks.chunked import Chunked
from rcweb.blocks.recognise import as_blocks
from rcweb.blocks.steps import Centring
from rcweb.engine.instrument import Instrument
from rcweb.engine.methods import FIT_METHODS
from rcweb.engine.prepare import is_extreme, power_of_two
from rcweb.engine.types import Array
from rcweb.engine.uncertainty import ActivityError, without_overfitting


class Fitted(Protocol):
    """The attributes of a fitted model that are used here."""

    method: str
    mean_: Array
    projection_: Array
    weights_: Array
    weights_sd_: Array | None
    noise_: Array
    rotation_: Array
    singular_values_: Array
    n_components_: int
    n_features_in_: int
    n_samples_: int


@dataclass(frozen=True)
class Project(Step):
    """The activities of a block, (rows, P); missing values (NaN) are ignored.

    mean (N,), projection (N, P) : activities are ``(row - mean) @ projection``
    weights : (P, N) predict a missing value from the activities; None: the pseudo-inverse of the
        projection (least squares)
    instrument : what the table was measured with
    """

    mean: Array
    projection: Array
    weights: Array | None
    instrument: Instrument = field(default_factory=Instrument)
    rules = ("rows",)

    def __call__(self, block: RowBlock, start: int) -> Parts:
        return (self.activities(block, start),)

    def chunk(self, block: RowBlock, block_info: Any = None) -> Array:
        """The same for a chunk of a dask array; dask passes its position as `block_info`."""
        start = block_info[0]["array-location"][0][0] if block_info else 0
        return self.activities(as_block(block), start)

    def activities(self, block: RowBlock, start: int = 0) -> Array:
        """Of the rows of a block, the first of which has number `start`."""
        if not self.instrument.plain:
            block = as_block(self.read(block))
        # NaN or infinity in a row reaches its activities, so checking these few numbers is enough.
        with np.errstate(invalid="ignore"):
            R = Centring(self.mean).activities(block, self.projection)
        rows = np.flatnonzero(~np.isfinite(R).all(axis=1))
        if not len(rows):
            return R
        # Imported here: complete tables, the usual case, do not need it.
        from rcweb.engine.missing import project_missing, refuse_infinite

        X = dense(block[rows])
        refuse_infinite(np.asarray(np.isinf(X).any(axis=0)))
        least_squares = self.weights is None
        weights: Any = np.linalg.pinv(self.projection) if least_squares else self.weights
        R[rows] = project_missing(X - self.mean, self.projection, weights, start + rows)
        return R

    def read(self, block: RowBlock) -> Array:
        """The values of the rows of a block."""
        return self.instrument(dense(block))


@dataclass(frozen=True)
class ProjectWithError(Step):
    """Activities of a block and their standard deviations, (rows, P) each."""

    project: Project
    error: ActivityError
    rules = ("rows", "rows")

    def __call__(self, block: RowBlock, start: int) -> Parts:
        R = self.project.activities(block, start)
        return R, self.error.sd(self.project.read(block) - self.project.mean, R)

    def chunk(self, block: RowBlock, block_info: Any = None) -> Array:
        """Both side by side, (rows, 2 P), of a chunk of a dask array."""
        start = block_info[0]["array-location"][0][0] if block_info else 0
        return np.hstack(self(as_block(block), start))


@dataclass(frozen=True)
class KnownActivities:
    """Activities (M, P) computed before; used in place of a `Project`."""

    mean: Array
    values: Array
    instrument: Instrument = field(default_factory=Instrument)

    def activities(self, block: RowBlock, start: int = 0) -> Array:
        """Of the rows of a block, the first of which has number `start`."""
        return self.values[start : start + block.shape[0]]

    def read(self, block: RowBlock) -> Array:
        """The values of the rows of a block."""
        return self.instrument(dense(block))


def projector(model: Fitted) -> Project:
    """The projection of a fitted model. Only "refined" has a noise model; others: least squares."""
    weights = model.weights_ if FIT_METHODS[model.method].solve is None else None
    return Project(model.mean_, model.projection_, weights, Instrument.of(model))


def error_projector(model: Fitted) -> ProjectWithError:
    """The projection of a fitted model with what is needed for standard deviations."""
    project = projector(model)
    if not hasattr(model, "n_samples_"):
        raise ValueError(
            "The model was fitted by an earlier version of rcweb, which did not keep the "
            "uncertainty of its weights; fit it again."
        )
    Q, M, K = model.projection_, model.n_samples_, len(model.singular_values_)
    # Squares of extreme numbers overflow. The refined method's activities then have about the size
    # of the table, otherwise unit variance.
    size = float(model.noise_.max())
    unit = power_of_two(size) if is_extreme(size) else 1.0
    weights, prior = project.weights, np.ones(model.n_components_)
    if weights is None:
        weights = np.linalg.pinv(Q).astype(np.float64, copy=False)
        # R = U S (B^T)^-1: the activities have the size that the singular values give them.
        turn = np.linalg.pinv(model.rotation_.T)
        prior = ((model.singular_values_[:, None] / unit * turn) ** 2).sum(axis=0) / M
    errors = model.weights_sd_
    if errors is None:  # a method that does not estimate them
        errors = np.zeros_like(weights)
    noise = without_overfitting(model.noise_, Q, weights, max(1 - K / M, 1 / M))
    return ProjectWithError(project, ActivityError(Q, weights, errors, noise / unit, prior, unit))


@dataclass(frozen=True)
class _Write(Step):
    """Writes activities to their rows of `out`; returns the number of rows written."""

    project: Project
    out: Any
    # A chunk of the target is read, changed and written back: two threads in one chunk would lose
    # the rows of one of them.
    lock: Any = field(default_factory=Lock)
    rules = ("sum",)

    def __call__(self, block: RowBlock, start: int) -> Parts:
        (values,) = self.project(block, start)
        with self.lock:
            self.out[start : start + len(values)] = values
        return (np.array(len(values)),)


@dataclass(frozen=True)
class _Explain(Step):
    """Of what was measured, divided by `unit`: the largest centred value; squares left by the
    network, numbers of values, and sums of the variables and of their squares."""

    project: Project | KnownActivities
    network: Array
    unit: float = 1.0
    rules = ("high", "sum", "sum", "sum", "sum")

    def __call__(self, block: RowBlock, start: int) -> Parts:
        centred = self.project.read(block) - self.project.mean
        seen = ~np.isnan(centred)
        rest = centred - self.project.activities(block, start) @ self.network
        # Missing entries count neither as variance nor as residual.
        rest[~seen] = centred[~seen] = 0.0
        rest, centred = rest / self.unit, centred / self.unit
        # If the largest value shows an overflow, `explained` repeats the pass with another unit.
        with np.errstate(over="ignore"):
            left, power = (rest * rest).sum(axis=0), (centred * centred).sum(axis=0)
            total = centred.sum(axis=0)
        return np.abs(centred).max(), left, seen.sum(axis=0), total, power


def explained(blocks: Blocks, project: Project | KnownActivities, network: Array) -> float:
    """Share of the variance that the network explains, in one pass (see `RCweb.score`).

    A second pass, in other units, is made if squares overflow or vanish: that is rare, and known
    only after the first one.
    """
    largest, *sums = blocks.fold(_Explain(project, network))
    if is_extreme(float(largest)):
        unit = power_of_two(float(largest))
        _, *sums = blocks.fold(_Explain(project, network, unit))
    rest, count, total, square = sums
    # The new table has a mean of its own, while rows are centred by that of the fitted one.
    variance = float((square - total**2 / np.maximum(count, 1)).sum())
    left = float(rest.sum())
    return 1 - left / variance if variance > 0 else float(left == 0)


def project_blocks(blocks: Blocks, project: Project) -> Any:
    """Activities (M, P): a lazy dask array of a dask array, otherwise an array."""
    if isinstance(blocks, Chunked):
        chunks = (blocks.array.chunks[0], (project.projection.shape[1],))
        return blocks.array.map_blocks(
            project.chunk, dtype=np.float64, chunks=chunks, meta=np.empty((0, 0))
        )
    return blocks.fold(project)[0]


def project_with_error(blocks: Blocks, step: ProjectWithError) -> tuple[Any, Any]:
    """Activities and standard deviations, (M, P) each; lazy dask arrays of a dask array."""
    if not isinstance(blocks, Chunked):
        R, sd = blocks.fold(step)
        return R, sd
    P = step.project.projection.shape[1]
    both = blocks.array.map_blocks(
        step.chunk, dtype=np.float64, chunks=(blocks.array.chunks[0], (2 * P,)),
        meta=np.empty((0, 0)),
    )  # fmt: skip
    return both[:, :P], both[:, P:]


def transform_blocks(model: Fitted, source: Any, out: Any) -> Any:
    """Write the activities of many samples to a file, one block in memory at a time.

    model : a fitted `rcweb.RCweb`
    source : path of a .npy, .zarr, .h5ad or .parquet file, dask or zarr array, memory map or
        AnnData object; TypeError for tables in memory, which ``model.transform`` takes
    out : path of a new .npy or .zarr file, or an array (M, P) to fill

    Returns the array (M, P) that was filled: a memory map or a zarr array for a path.

    Examples
    --------
    >>> import numpy as np
    >>> from rcweb import RCweb
    >>> from rcweb.blocks import transform_blocks
    >>> from rcweb.simulate import simulate
    >>> np.save("table.npy", simulate(200, 40, 3, random_state=0).data)
    >>> model = RCweb(3).fit("table.npy")
    >>> transform_blocks(model, "table.npy", "activities.npy").shape
    (200, 3)
    """
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    blocks = as_blocks(source)
    if blocks is None:
        raise TypeError(f"{type(source).__name__} cannot be read in blocks; use model.transform.")
    check_names(model, blocks)
    shape = (blocks.shape[0], model.n_components_)
    target = _create(Path(out), shape) if isinstance(out, str | Path) else out
    project = projector(model)
    if isinstance(blocks, Chunked):
        # Locked: chunks are written by several threads, and not every target allows that.
        project_blocks(blocks, project).store(target, lock=True)
    else:
        blocks.fold(_Write(project, target))
    if isinstance(target, np.memmap):
        target.flush()
    return target


def _create(path: Path, shape: tuple[int, int]) -> Any:
    if path.suffix == ".npy":
        return np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=shape)
    if path.suffix == ".zarr":
        try:
            import zarr
        except ImportError:
            raise ImportError(
                "Writing .zarr arrays needs zarr: pip install 'rcweb[scale]'"
            ) from None
        chunks = (min(shape[0], 65536), shape[1])
        return zarr.create_array(str(path), shape=shape, chunks=chunks, dtype="float64")
    raise ValueError(f"{path.name!r} must end in .npy or .zarr.")


def learn_names(model: Any, blocks: Blocks) -> None:
    """Set the attributes that scikit-learn keeps of the fitted table: its size and names."""
    M, N = blocks.shape
    if M < 2 or N < 2:
        raise ValueError(
            f"A table of {M} samples and {N} variables; at least 2 of both are needed."
        )
    model.n_features_in_ = N
    # As in scikit-learn, a fit without names removes those of an earlier fit.
    if blocks.names is not None:
        model.feature_names_in_ = np.array(blocks.names, dtype=object)
    elif hasattr(model, "feature_names_in_"):
        del model.feature_names_in_


def check_names(model: Fitted, blocks: Blocks) -> None:
    """Refuse a table whose variables are not those of the model."""
    N = blocks.shape[1]
    if model.n_features_in_ != N:
        raise ValueError(f"X has {N} features, but RCweb is expecting {model.n_features_in_}.")
    known = getattr(model, "feature_names_in_", None)
    if known is None or blocks.names is None:
        return
    for place, (name, wanted) in enumerate(zip(blocks.names, known)):
        if name != wanted:
            raise ValueError(
                f"Variable {place} is {name!r}, but the model was fitted to {wanted!r}."
            )
