"""Forecast of a fit: peak memory by purpose, and a rough time.

Memory is counted array by array along the route that `rcweb.blocks.route` chooses for the shape;
the number of copies alive at once was measured (docs/scale.md). Times are those of one core of a
2.5 GHz server, within a factor of about three if the mean-field equations converge. If they do not,
as in most sparse tables and in noise, the posterior is sampled: the shape does not tell when, and
it takes ten seconds to some minutes.
"""

from __future__ import annotations

import math
import os
import sys
from dataclasses import dataclass
from typing import Any

from scipy.sparse import issparse

from rcweb.blocks.base import block_rows
from rcweb.blocks.local import threads_for
from rcweb.blocks.route import number_of_axes, route_of
from rcweb.engine.effort import EFFORTS, MOST_ENTRIES
from rcweb.engine.methods import FIT_METHODS
from rcweb.engine.outliers import rows_seen
from rcweb.storage.errors import warn_user
from rcweb.storage.memory import available_memory, parse_size, show_size

KINDS = ("dense", "sparse", "chunked")
DOUBLE = 8
PROGRAM = 305_000_000  # Python with NumPy, SciPy, scikit-learn, pandas and compiled kernels
CHUNKED_PROGRAM = 20_000_000  # dask or zarr
UNKNOWN_COMPONENTS = 60  # assumed for "auto"
DIRECTIONS_PER_REGULATOR = 1.3  # directions per regulator, often
WARNING_SHARE = 0.8  # share of the memory from which a warning is due
# Copies alive at once; those of the whole table are in `rcweb.engine.methods`.
COPIES_PRODUCTS = 4.0
COPIES_AXES = 9.0
COPIES_ROWS = 12.0  # (N, K): network, probabilities, sums, and what a sweep draws
# Seconds per elementary step.
PER_PRODUCT = 3e-11
PER_SPARSE_PRODUCT = 2.5e-9
PER_CUBE = 1e-10
PER_DRAW = 5e-9


class MemoryForecastError(MemoryError):
    """The fit would need more memory than there is; nothing was allocated yet. A MemoryError."""


@dataclass(frozen=True)
class Forecast:
    """Memory and time of one fit.

    peak_bytes : of the whole process, the table in memory and all of the program included; a first
        fit, which loads some of the program after it has read the data, may take less
    seconds : of one core at 2.5 GHz, within a factor of about three, unless the posterior must be
        sampled, which takes ten seconds to some minutes
    parts : bytes by purpose at the peak, the largest first
    sentence : one sentence for display
    """

    peak_bytes: int
    seconds: float
    parts: tuple[tuple[str, int], ...]
    sentence: str


def forecast(
    shape: tuple[int, int],
    n_components: int | str = "auto",
    *,
    method: str = "refined",
    quality: str = "standard",
    kind: str = "dense",
    itemsize: int = DOUBLE,
    nnz: int | None = None,
) -> Forecast:
    """Memory and time of fitting a table, from its shape.

    shape : (M, N), samples and variables
    n_components, method, quality : as in `rcweb.RCweb`; for "auto" 60 regulators are assumed
    kind : "dense" or "sparse" in memory, "chunked" on disk or on a cluster
    itemsize : bytes of a number of the table
    nnz : numbers stored in a sparse table

    Examples
    --------
    >>> from rcweb.estimator.forecast import forecast
    >>> expected = forecast((2_000_000, 1_000), 50, kind="chunked")
    >>> expected.peak_bytes < 2e9  # of a table of 16 GB
    True
    """
    M, N = _checked(shape, kind, nnz)
    P = UNKNOWN_COMPONENTS if isinstance(n_components, str) else int(n_components)
    # At most the rank of the centred table, at least one direction.
    K = max(1, min(math.ceil(DIRECTIONS_PER_REGULATOR * P), M - 1, N - 1))
    whole = _is_whole((M, N), method, kind)
    held = _held(M, N, kind, itemsize, nnz)
    stages = _whole(M, N, K, method) if whole else _streamed(M, N, P, K, itemsize, kind)
    # Stages follow each other and release their arrays, so the peak is the largest, not the sum.
    heaviest = max(stages, key=lambda stage: sum(stage.values()))
    parts = sorted({**held, **heaviest}.items(), key=lambda part: -part[1])
    peak = sum(size for _, size in parts)
    seconds = _seconds(M, N, K, method, quality, nnz)
    duration = _duration(seconds, method, kind)
    return Forecast(peak, seconds, tuple(parts), _sentence((M, N), peak, duration, parts))


def forecast_of(
    values: Any,
    shape: tuple[int, int],
    n_components: int | str,
    *,
    method: str,
    quality: str,
) -> Forecast:
    """The same for the table itself: `values` in memory, dense or sparse; None if on disk."""
    sparse = issparse(values)
    return forecast(
        shape,
        n_components,
        method=method,
        quality=quality,
        kind="sparse" if sparse else "chunked" if values is None else "dense",
        nnz=values.nnz if sparse else None,
    )


def forecast_text(expected: Forecast) -> str:
    """The sentence and a table of the parts, for display.

    expected : of `forecast`

    Examples
    --------
    >>> from rcweb.estimator.forecast import forecast, forecast_text
    >>> print(forecast_text(forecast((300, 4_000))))
    A table of 300 samples x 4,000 variables takes about 386 MB of memory (...) and a few seconds...
          305 MB  program
         40.3 MB  copies of the table
         ...
    """
    lines = [f"  {show_size(size):>10}  {name}" for name, size in expected.parts]
    return "\n".join([expected.sentence, *lines])


def check_memory(expected: Forecast, max_memory: int | str | None = None) -> None:
    """Raise `MemoryForecastError` if the fit cannot fit, warn if it will be close.

    expected : of `forecast`
    max_memory : for the whole process, bytes or "4GB"; None = what the process has and what the
        system still gives it

    Examples
    --------
    >>> from rcweb.estimator.forecast import check_memory, forecast
    >>> check_memory(forecast((10_000, 5_000)), "200MB")
    Traceback (most recent call last):
    ...
    rcweb.estimator.forecast.MemoryForecastError: A table of 10,000 samples x 5,000 variables ...
    """
    limit = _limit() if max_memory is None else parse_size(max_memory)
    if limit is None or expected.peak_bytes <= WARNING_SHARE * limit:
        return
    whose = "are available" if max_memory is None else "are allowed (max_memory)"
    need = f"{expected.sentence} {show_size(limit)} {whose}."
    if expected.peak_bytes > limit:
        raise MemoryForecastError(
            f"{need} Ask for fewer regulators, give the table sparse or chunked (the path of a "
            ".npy, .zarr, .h5ad or .parquet file, a dask array)"
            + ("." if max_memory is None else ", or raise max_memory.")
        )
    warn_user(f"{need} That is close.", RuntimeWarning)


def _limit() -> int | None:
    free = available_memory()
    # The forecast is for the whole process, so what the process already holds counts as available.
    return None if free is None else free + _resident()


def _resident() -> int:
    """Bytes that this process uses now; where that is unknown, its peak so far."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        import resource

        # No /proc, as on macOS, where ru_maxrss is in bytes; elsewhere it is in kB.
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


def _checked(shape: tuple[int, int], kind: str, nnz: int | None) -> tuple[int, int]:
    M, N = shape
    if M < 2 or N < 2:
        raise ValueError(f"A table has at least 2 samples and 2 variables, not {M} x {N}.")
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}; not {kind!r}.")
    if (kind == "sparse") != (nnz is not None):
        raise ValueError("give nnz for kind='sparse', and only for it.")
    return int(M), int(N)


def _is_whole(shape: tuple[int, int], method: str, kind: str) -> bool:
    """Whether the table is taken in one piece; see `rcweb.blocks.in_blocks` and `gather`."""
    route = route_of(*shape)
    if FIT_METHODS[method].solve is not None or route == "rows":
        return True
    return kind == "dense" and route == "gram" and shape[0] <= block_rows(shape[1])


def _held(M: int, N: int, kind: str, itemsize: int, nnz: int | None) -> dict[str, int]:
    """Memory held during the whole fit."""
    if kind == "chunked":
        return {"program": PROGRAM + CHUNKED_PROGRAM}
    if nnz is not None:
        # Rows of a CSR matrix: value, 4-byte column index, 8-byte row pointer.
        return {"program": PROGRAM, "table": nnz * (itemsize + 4) + 8 * M}
    # Other types are converted to doubles, and both copies are alive.
    copy = 0 if itemsize == DOUBLE else DOUBLE * M * N
    return {"program": PROGRAM, "table": itemsize * M * N + copy}


def _whole(M: int, N: int, K: int, method: str) -> list[dict[str, int]]:
    return [
        {
            "copies of the table": int(FIT_METHODS[method].copies * DOUBLE * M * N),
            "products": int(1.4 * DOUBLE * min(M, N) ** 2),
            "network": int(COPIES_ROWS * DOUBLE * N * K),
        }
    ]


def _streamed(M: int, N: int, P: int, K: int, itemsize: int, kind: str) -> list[dict[str, int]]:
    """Two stages, the passes over the data and the fit of their result; the larger one counts."""
    threads = threads_for(N)
    block = DOUBLE * min(threads * block_rows(N), M) * N
    seen = DOUBLE * min(rows_seen(N), M) * N
    # Read (zarr keeps its chunks beside that), turned to doubles, centred; sparse stays sparse.
    copies = {"dense": 1.1, "chunked": 3.6 + itemsize / DOUBLE, "sparse": 0.3}[kind]
    blocks = int(copies * block)
    network = int(COPIES_ROWS * DOUBLE * N * K)
    if route_of(M, N) == "gram":
        products = DOUBLE * N * N
        per_block = 3 if kind == "sparse" else 1
        waiting = int((threads * per_block + 2) * products)
        return [
            {"blocks": blocks, "products": waiting, "samples looked at": seen},
            {"products": int(COPIES_PRODUCTS * products), "network": network, "samples": 4 * seen},
        ]
    axes = DOUBLE * N * number_of_axes(M, N, P)
    return [
        {"blocks": blocks, "axes": int(COPIES_AXES * axes), "samples looked at": 2 * seen},
        {"axes": int(COPIES_AXES * axes), "network": network, "samples": 4 * seen},
    ]


def _seconds(M: int, N: int, K: int, method: str, quality: str, nnz: int | None) -> float:
    route = route_of(M, N)
    # Products are with the axes, or with all of the smaller side of the table.
    side = 3 * K if route == "axes" else min(M, N)
    if nnz is None or FIT_METHODS[method].solve is not None or route == "rows":
        products = PER_PRODUCT * M * N * side
    else:  # stored entries with the axes, or with the others of their row
        products = PER_SPARSE_PRODUCT * nnz * (side if route == "axes" else nnz / M)
    data = products + PER_CUBE * side**3
    work = FIT_METHODS[method].seconds_per_entry * N * K**2
    if quality == "high" and method == "refined":
        always = EFFORTS["high"].converged
        # "high" always samples, so its sweeps are part of the forecast.
        sweeps = 0 if always is None else always.burn + always.shape + always.sweeps
        draws = sweeps * min(N * K, MOST_ENTRIES)
        work = EFFORTS["high"].searches * work + PER_DRAW * draws * K
    return 0.1 + data + work


def _duration(seconds: float, method: str, kind: str) -> str:
    """In words; the refined method may have to sample, and does so on most sparse tables."""
    if method != "refined":
        return _show_time(seconds)
    if kind == "sparse":
        return f"{_show_time(seconds)} or, more likely, longer: it may have to sample"
    return f"{_show_time(seconds)}; it may take longer, if it has to sample"


def _sentence(
    shape: tuple[int, int], peak: int, duration: str, parts: list[tuple[str, int]]
) -> str:
    M, N = shape
    most = ", ".join(f"{name} {show_size(size)}" for name, size in parts[:3])
    return (
        f"A table of {M:,} samples x {N:,} variables takes about {show_size(peak)} of memory "
        f"({most}) and {duration}."
    )


def _show_time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s" if seconds >= 2 else "a few seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.0f} hours"
