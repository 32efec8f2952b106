"""Every method of the benchmark under one call: a planted problem in, an estimate out.

A rival is a module of `rcweb.lab.baselines` with a function `fit` and its `RECORDS`; a new module
is found without being named here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import numpy as np
import pandas as pd

from rcweb.engine.types import Array
from rcweb.lab import baselines
from rcweb.lab.baselines import incremental, oracle
from rcweb.lab.baselines.base import Factors, MethodRecord
from rcweb.lab.simulate import Simulation


@dataclass(frozen=True)
class Estimate:
    """What a method found.

    network : (P, N) with the edges that the method would draw
    weights : (P, N) its best estimate of every entry, for methods that tell the two apart
    ranking : (P, N) order of the edges, the weights if None
    probability : (P, N) of every edge, for methods that know one
    """

    network: Array
    weights: Array | None = None
    ranking: Array | None = None
    probability: Array | None = None


RivalFit = Callable[..., Factors]


@dataclass(frozen=True)
class Method:
    """What the benchmark knows of a method, and how it is run on a planted problem.

    fit : ``fit(data, n_components, *, density, random_state, **options)`` of a rival, else None
    """

    record: MethodRecord
    run: Callable[[Simulation, int | str, int], Estimate]
    fit: RivalFit | None = None

    @property
    def name(self) -> str:
        """How it is asked for."""
        return self.record.name

    @property
    def role(self) -> str:
        """ "ours", "rival" or "reference"."""
        return self.record.role

    @property
    def slow(self) -> bool:
        """Minutes: run on fewer cells and seeds."""
        return self.record.slow


def _rival(
    fit: RivalFit, record: MethodRecord, sim: Simulation, n_components: int | str, seed: int
) -> Estimate:
    """A baseline, told the true mean density as in section 4.2 of the paper."""
    told = {"density": float(sim.edges.mean()), "random_state": seed}
    found = fit(sim.data, n_components, **told, **record.options)
    # A rival that knows posterior means and probabilities is scored on them, as rcweb is.
    weights, probability = (getattr(found, name, None) for name in ("weights", "probability"))
    return Estimate(found.network, weights, ranking=probability, probability=probability)


def fit_table(name: str, data: Array, n_components: int | str, seed: int) -> Factors:
    """A rival's factors of a real table, whose density is unknown."""
    method = get_method(name)
    if method.fit is None:
        raise ValueError(f"{name!r} is not one of the rivals that fit a table.")
    options = {**method.record.options, **method.record.table_options}
    return method.fit(data, n_components, random_state=seed, **options)


def _oracle(sim: Simulation, n_components: int | str, seed: int) -> Estimate:
    factors = oracle.fit(
        sim.data, len(sim.network), network=sim.network, noise_sd=sim.noise_sd, random_state=seed
    )
    return Estimate(factors.network)


def _ceiling(sim: Simulation, n_components: int | str, seed: int) -> Estimate:
    """Posterior mean of the sampler started at the truth: what a blind method can hope for."""
    from rcweb.engine.condensed import CondensedTable
    from rcweb.engine.posterior.axes import all_axes
    from rcweb.engine.posterior.gibbs import Chain

    G = sim.data - sim.data.mean(axis=0)
    rng = np.random.default_rng(seed)
    chain = Chain(all_axes(CondensedTable.of(G)), sim.network, rng, concentration=0.1 * G.shape[1])
    # Fixed lengths; started at the truth, the chain only has to leave the exact values.
    chain.run(50, shaped=False)
    chain.run(20)
    posterior = chain.run(300)
    edges = posterior.probability > 0.5
    return Estimate(np.where(edges, posterior.C, 0.0), weights=posterior.C)


def _rcweb(sim: Simulation, n_components: int | str, seed: int, **options: Any) -> Estimate:
    from rcweb.estimator import RCweb

    model = RCweb(n_components, random_state=seed, **options).fit(sim.data)
    return Estimate(model.components_, model.weights_, model.edge_score_, model.edge_probability_)


def _rcweb_paper(sim: Simulation, n_components: int | str, seed: int) -> Estimate:
    """The published algorithm; told the mean out-degree like every rival."""
    degree = max(1, round(sim.edges.mean() * sim.network.shape[1]))
    return _rcweb(sim, n_components, seed, method="paper", degree=degree)


def _ksvd_package(sim: Simulation, n_components: int | str, seed: int) -> Estimate:
    """ApproximateKSVD of the package ``ksvd``, which is not a dependency: 20 iterations as ours."""
    try:
        from ksvd import ApproximateKSVD
    except ImportError:
        raise ImportError("pip install ksvd, to compare with that package") from None
    P = int(n_components)
    signals = (sim.data - sim.data.mean(axis=0)).T
    k = max(1, round(float(sim.edges.mean()) * P))
    np.random.seed(seed)  # noqa: NPY002, the package knows no other generator
    model = ApproximateKSVD(n_components=P, max_iter=20, transform_n_nonzero_coefs=k).fit(signals)
    return Estimate(np.ascontiguousarray(model.transform(signals).T))


def _incremental(sim: Simulation, n_components: int | str, seed: int) -> Estimate:
    """In batches, as for a table beyond memory."""
    P = int(n_components)
    # IncrementalPCA needs at least P rows in a batch.
    batches = np.array_split(sim.data, max(1, len(sim.data) // max(P, 1000)))
    return Estimate(incremental.fit_batches(batches, P, random_state=seed))


def _rivals() -> Iterator[Method]:
    """The records of all modules of `rcweb.lab.baselines`, quick rivals first."""
    found = []
    # By discovery: adding a rival means adding one file.
    for info in iter_modules(baselines.__path__):
        module = import_module(f"{baselines.__name__}.{info.name}")
        for record in getattr(module, "RECORDS", ()):
            found.append(Method(record, partial(_rival, module.fit, record), module.fit))
    # Stable: by name within quick and slow.
    yield from sorted(found, key=lambda method: method.slow)


RCWEB = MethodRecord(
    name="rcweb",
    title="the default engine",
    paper="this package",
    settings="none",
    look=("#D55E00", "o"),
    told="P",
    finds_p=True,
    role="ours",
)
RCWEB_PAPER = MethodRecord(
    name="rcweb-paper",
    title="the published algorithm",
    paper="Slavov 2010",
    settings="none",
    look=("#E69F00", "s"),
    finds_p=True,
)
CEILING = MethodRecord(
    name="ceiling",
    title="the sampler of `rcweb` started at the truth",
    paper="this package",
    settings="what a blind method can hope for; no rival",
    told="network",
    role="reference",
)
KSVD_PACKAGE = MethodRecord(
    name="ksvd-package",
    title="K-SVD of the package `ksvd`",
    paper="Aharon, Elad & Bruckstein 2006",
    settings="20 iterations",
    look=("#004D38", "d"),
    package="ksvd",
)

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(RCWEB, _rcweb),
        Method(RCWEB_PAPER, _rcweb_paper),
        Method(oracle.ORACLE, _oracle),
        Method(CEILING, _ceiling),
        Method(incremental.INCREMENTAL, _incremental),
        Method(KSVD_PACKAGE, _ksvd_package),
        *_rivals(),
    )
}


# The methods of published figure 3 and the names of their implementations here.
PUBLISHED = {"RCweb": "rcweb-paper", "emPCA": "empca", "K-SVD": "ksvd-published"}


def get_method(name: str) -> Method:
    """The method of that name, or an error that lists them."""
    try:
        return METHODS[name]
    except KeyError:
        raise ValueError(f"method must be one of {', '.join(METHODS)}; not {name!r}.") from None


def method_lines() -> pd.DataFrame:
    """The methods of the benchmark with the settings they got, a line each."""
    records = [method.record for method in METHODS.values()]
    return pd.DataFrame(
        {
            "method": f"`{record.name}`",
            "what it is": record.title,
            "paper": record.paper,
            "settings": record.settings,
            "told": record.told,
            "tables": record.data,
            "needs": f"`pip install {record.package}`" if record.package else "",
        }
        for record in records
    )
