"""Every method of the benchmark under one call: a planted problem in, an estimate out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from rcweb.engine.types import Array
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


@dataclass(frozen=True)
class Method:
    """role : "ours", "rival" or "reference";  slow : minutes, run on fewer cells and seeds."""

    name: str
    run: Callable[[Simulation, int | str, int], Estimate]
    role: str = "rival"
    slow: bool = False


def _rival(
    module: str, options: dict[str, Any], sim: Simulation, n_components: int | str, seed: int
) -> Estimate:
    """A baseline, told the true mean density as in section 4.2 of the paper."""
    fit = import_module(f"rcweb.lab.baselines.{module}").fit
    told = {"density": float(sim.edges.mean()), "random_state": seed}
    found = fit(sim.data, n_components, **told, **options)
    # A rival that knows posterior means and probabilities is scored on them, as rcweb is.
    weights, probability = (getattr(found, name, None) for name in ("weights", "probability"))
    return Estimate(found.network, weights, ranking=probability, probability=probability)


def _oracle(sim: Simulation, n_components: int | str, seed: int) -> Estimate:
    from rcweb.lab.baselines import oracle

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
    from rcweb.lab.baselines.incremental import fit_batches

    P = int(n_components)
    batches = np.array_split(sim.data, max(1, len(sim.data) // max(P, 1000)))
    return Estimate(fit_batches(batches, P, random_state=seed))


def _baseline(name: str, module: str, slow: bool = False, **options: Any) -> Method:
    return Method(name, partial(_rival, module, options), slow=slow)


METHODS: dict[str, Method] = {
    m.name: m
    for m in (
        Method("rcweb", _rcweb, role="ours"),
        Method("rcweb-paper", _rcweb_paper, role="rival"),
        Method("oracle", _oracle, role="reference"),
        Method("ceiling", _ceiling, role="reference"),
        _baseline("fastica", "ica"),
        _baseline("fastica-samples", "ica", over="samples"),
        Method("ipca-fastica", _incremental),
        _baseline("ksvd", "ksvd"),
        # From random variables alone, as in the published comparison (figure 3).
        _baseline("ksvd-published", "ksvd", starts=("variables",)),
        Method("ksvd-package", _ksvd_package),
        _baseline("varimax", "varimax"),
        _baseline("empca", "empca"),
        _baseline("l1-sphere", "l1_sphere"),
        _baseline("psmf", "psmf", slow=True),
        _baseline("bfrm", "bfrm", slow=True),
        _baseline("sparse-pca", "sparse_pca", slow=True),
        _baseline("dictionary", "dictionary", slow=True),
    )
}


# The methods of published figure 3, and who stands for them here.
PUBLISHED = {"RCweb": "rcweb-paper", "emPCA": "empca", "K-SVD": "ksvd-published"}


def get_method(name: str) -> Method:
    """The method of that name, or an error that lists them."""
    try:
        return METHODS[name]
    except KeyError:
        raise ValueError(f"method must be one of {', '.join(METHODS)}; not {name!r}.") from None
