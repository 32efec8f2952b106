"""Activities of the regulators block by block: ``(X - mean) @ projection``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rcweb.blocks.base import Array, Block, Blocks, Parts, Step, as_block, dense
from rcweb.blocks.chunked import Chunked
from rcweb.blocks.recognise import as_blocks
from rcweb.blocks.steps import Centring

if TYPE_CHECKING:
    from rcweb.estimator import RCweb


@dataclass(frozen=True)
class Project(Step):
    """The activities of a block, (rows, P)."""

    mean: Array
    projection: Array
    rules = ("rows",)

    def __call__(self, block: Block, start: int) -> Parts:
        return (Centring(self.mean).activities(block, self.projection),)

    def chunk(self, block: Block) -> Array:
        """The same for a chunk as it comes."""
        return self(as_block(block), 0)[0]


@dataclass(frozen=True)
class _Write(Step):
    """Activities written to their place in `out`; the number of rows done comes back."""

    project: Project
    out: Any
    rules = ("sum",)

    def __call__(self, block: Block, start: int) -> Parts:
        (values,) = self.project(block, start)
        self.out[start : start + len(values)] = values
        return (np.array(len(values)),)


@dataclass(frozen=True)
class _Explain(Step):
    """Squares left by the network, and sums of the variables and of their squares."""

    project: Project
    network: Array
    rules = ("sum", "sum", "sum")

    def __call__(self, block: Block, start: int) -> Parts:
        centred = dense(block) - self.project.mean
        rest = centred - (centred @ self.project.projection) @ self.network
        return (rest * rest).sum(axis=0), centred.sum(axis=0), (centred * centred).sum(axis=0)


def explained(blocks: Blocks, mean: Array, projection: Array, network: Array) -> float:
    """Share of the variance that the network explains, in one pass (see `RCweb.score`)."""
    rest, total, square = blocks.fold(_Explain(Project(mean, projection), network))
    variance = float((square - total**2 / blocks.shape[0]).sum())
    left = float(rest.sum())
    return 1 - left / variance if variance > 0 else float(left == 0)


def project_blocks(blocks: Blocks, mean: Array, projection: Array) -> Any:
    """Activities (M, P): a lazy dask array of a dask array, otherwise an array."""
    project = Project(mean, projection)
    if isinstance(blocks, Chunked):
        chunks = (blocks.array.chunks[0], (projection.shape[1],))
        return blocks.array.map_blocks(
            project.chunk, dtype=np.float64, chunks=chunks, meta=np.empty((0, 0))
        )
    return blocks.fold(project)[0]


def transform_blocks(model: RCweb, source: Any, out: Any) -> Any:
    """Write the activities of the samples of `source` to `out`, of which only blocks are in memory.

    source : what ``rcweb.blocks.as_blocks`` knows, such as a path or a dask array
    out : a path ending in .npy or .zarr, which is made, or an array (M, P) to fill
    """
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    blocks = as_blocks(source)
    if blocks is None:
        raise TypeError(f"{type(source).__name__} is not read in blocks; call model.transform.")
    check_names(model, blocks)
    shape = (blocks.shape[0], model.n_components_)
    target = _create(Path(out), shape) if isinstance(out, str | Path) else out
    project = Project(model.mean_, model.projection_)
    if isinstance(blocks, Chunked):
        project_blocks(blocks, model.mean_, model.projection_).store(target, lock=True)
    else:
        blocks.fold(_Write(project, target))
    if isinstance(target, np.memmap):
        target.flush()
    return target


def _create(path: Path, shape: tuple[int, int]) -> Any:
    if path.suffix == ".npy":
        return np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=shape)
    if path.suffix == ".zarr":
        import zarr

        chunks = (min(shape[0], 65536), shape[1])
        return zarr.create_array(str(path), shape=shape, chunks=chunks, dtype="float64")
    raise ValueError(f"{path.name!r} must end in .npy or .zarr.")


def learn_names(model: RCweb, blocks: Blocks) -> None:
    """What scikit-learn remembers of the table a model was fitted to."""
    M, N = blocks.shape
    if M < 2 or N < 2:
        raise ValueError(
            f"A table of {M} samples and {N} variables; at least 2 of both are needed."
        )
    model.n_features_in_ = N
    if blocks.names is not None:
        model.feature_names_in_ = np.array(blocks.names, dtype=object)
    elif hasattr(model, "feature_names_in_"):
        del model.feature_names_in_


def check_names(model: RCweb, blocks: Blocks) -> None:
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
