"""Tables without sparse regulators: every edge and every certified regulator in them is false.

Generators as in `rcweb.lab.benchmark.foreign_worlds`; X is (M, N), z are independent N(0, 1).
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from rcweb.engine.types import Array, Rng
from rcweb.lab.benchmark.foreign_worlds import Generator, World, autoregressive, plain, with_noise
from rcweb.lab.datasets.files import required_data_folder


def null(data: Array) -> World:
    """A world of `data` and no regulator."""
    nothing = np.zeros((0, data.shape[1]))
    return World(data, nothing, nothing.astype(bool))


def white(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """z."""
    return null(rng.standard_normal((M, N)))


def ar_samples(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """Each variable is first-order autoregressive over samples, coefficient `level`."""
    return null(autoregressive(rng, M, N, level))


def random_walk(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """Each variable is a random walk over samples, ``x_m = x_{m-1} + z``."""
    return null(rng.standard_normal((M, N)).cumsum(axis=0))


def ar_variables(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """Each sample is first-order autoregressive over variables, coefficient `level`."""
    return null(autoregressive(rng, N, M, level).T)


def unequal_samples(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """``s_m z`` with s log-normal over samples, log-sd `level`."""
    return null(rng.lognormal(0, level, (M, 1)) * rng.standard_normal((M, N)))


def unequal_variables(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """``s_n z`` with s log-normal over variables, log-sd `level`."""
    return null(rng.lognormal(0, level, N) * rng.standard_normal((M, N)))


def heavy_tails(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """Student t with `level` degrees of freedom."""
    return null(rng.standard_t(level, (M, N)))


def permuted_planted(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """A planted table, the samples of each variable permuted on their own."""
    return null(rng.permuted(plain(rng, M, N, P, level).data, axis=0))


def dense_factors(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """P factors that act on all variables, C ~ N(0, 1) without a zero, and noise."""
    return null(with_noise(rng, rng.standard_normal((M, P)) @ rng.standard_normal((P, N))))


def rotated(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """A planted table times a random rotation of the variables: same spectrum, nothing sparse."""
    planted = plain(rng, M, N, P, level).data
    Q, T = np.linalg.qr(rng.standard_normal((N, N)))
    # Signs of the diagonal make the rotation uniform (Mezzadri 2007).
    return null(planted @ (Q * np.sign(np.diag(T))))


def permuted_real(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """E. coli expression (M samples, N genes drawn from the table below RCWEB_DATA), the samples
    of each gene permuted on their own."""
    table = pd.read_parquet(required_data_folder() / "ecoli_precise/expression.parquet").to_numpy(
        float
    )
    samples, genes = (
        np.sort(rng.choice(n, min(k, n), replace=False)) for n, k in zip(table.shape, (M, N))
    )
    return null(rng.permuted(table[np.ix_(samples, genes)], axis=0))


NULLS: dict[str, Generator] = {
    "null: white": white,
    "null: AR samples": ar_samples,
    "null: random-walk samples": random_walk,
    "null: AR variables": ar_variables,
    "null: unequal samples": unequal_samples,
    "null: unequal variables": unequal_variables,
    "null: heavy tails": heavy_tails,
    "null: permuted planted table": permuted_planted,
    "null: permuted real table": permuted_real,
    "null: dense factors": dense_factors,
    "null: rotated planted table": rotated,
}
