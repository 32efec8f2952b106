"""The plan on constants: each of the engine's, halved and doubled, on a panel of small tables.

The panel has planted cells like those of the paper's figures, foreign worlds, tables with holes,
of several studies, with single wrong entries, of amounts, and a part of a real table. A row of the
results is one constant at one factor on one table, beside the row of the defaults (constant
``""``).

Score of a table, between 0 and 1:

- with a truth: mean of rho, 1 - FDR, and certified regulators that are right minus those that are
  not, per true regulator;
- without any regulator: 1 - share of rows with edges;
- real: mean of the share of known regulators met, and of the harmonic mean of recovery and
  relevance, over several numbers of edges.

The panel's score is the mean over its tables.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from rcweb.engine.types import Array
from rcweb.knowledge import GeneSets, read_gmt
from rcweb.lab.benchmark.constants import EngineConstant, engine_constants, names_read, set_to
from rcweb.lab.benchmark.curves import curve, known_members
from rcweb.lab.benchmark.fits import TableFit, table_fit
from rcweb.lab.benchmark.foreign import score_world
from rcweb.lab.benchmark.foreign_nulls import NULLS, null
from rcweb.lab.benchmark.foreign_worlds import WORLDS, World
from rcweb.lab.benchmark.scenarios import AUTHOR
from rcweb.lab.datasets.files import required_data_folder
from rcweb.lab.simulate import simulate

FACTORS = (0.5, 2.0)
DEFAULTS = ""
REAL_EDGES = (125, 250, 500, 1000)
REAL_VARIABLES = 500


@dataclass(frozen=True)
class PanelTable:
    """A table of the panel.

    draw : world number `seed`;  asked : n_components
    parts : modules whose constants are varied here; a slow table is for those that only it reaches
    studies : number of studies that the samples are dealt into, with noise of their own
    real : whether known regulators are the truth
    """

    draw: Callable[[int], World]
    asked: int | str
    parts: tuple[str, ...] = ("rcweb.engine",)
    studies: int = 1
    real: bool = False


def _planted(M: int, N: int, P: int, **world: Any) -> PanelTable:
    def draw(seed: int) -> World:
        sim = simulate(M, N, P, random_state=seed, **world)
        return World(sim.data, sim.network, sim.edges)

    return PanelTable(draw, P)


def _amounts(M: int, N: int, P: int, **world: Any) -> PanelTable:
    """No logs were taken; every variable has a level of its own, to which effects are in
    proportion."""
    planted = _planted(M, N, P, **world)

    def draw(seed: int) -> World:
        logs = planted.draw(seed)
        level = np.random.default_rng(seed).standard_normal(N)
        X = np.exp(0.6 * logs.data / logs.data.std() + level)
        return World(X, logs.rows * X.mean(axis=0), logs.edges)

    return replace(planted, draw=draw)


def _foreign(name: str, M: int, N: int, P: int, level: float) -> PanelTable:
    generator = {**WORLDS, **NULLS}[name]
    return PanelTable(
        lambda seed: generator(np.random.default_rng([seed, M, N, P]), M, N, P, level), P
    )


def _changed(
    table: PanelTable, change: Callable[[Array, np.random.Generator], Array]
) -> PanelTable:
    def draw(seed: int) -> World:
        world = table.draw(seed)
        return replace(world, data=change(world.data.copy(), np.random.default_rng(seed)))

    return replace(table, draw=draw)


def _with_holes(X: Array, rng: np.random.Generator) -> Array:
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


def _with_errors(X: Array, rng: np.random.Generator) -> Array:
    """Three entries a hundred times the table's size."""
    X.flat[rng.choice(X.size, 3, replace=False)] = 100 * X.std()
    return X


def _in_two_studies(X: Array, rng: np.random.Generator) -> Array:
    """The second half of the samples has other means and twice the noise."""
    half = len(X) // 2
    X[half:] += X.std() * (
        rng.standard_normal(X.shape[1]) + 0.3 * rng.standard_normal(X[half:].shape)
    )
    return X


def _real(seed: int) -> World:
    """The variables of largest variance of the S. aureus table."""
    return null(_real_table().to_numpy(np.float64))


@lru_cache(maxsize=1)
def _real_table() -> pd.DataFrame:
    table = pd.read_parquet(required_data_folder() / "saur_imodulon/X.parquet")
    widest = table.var().sort_values(ascending=False, kind="stable").index[:REAL_VARIABLES]
    return table[[name for name in table.columns if name in set(widest)]]


@lru_cache(maxsize=1)
def _real_sets() -> GeneSets:
    return read_gmt(required_data_folder() / "saur_imodulon/regulons.gmt")


def _panel() -> dict[str, PanelTable]:
    figure1 = _planted(120, 200, 12, network="author_poisson", density=0.1, noise=0.1, **AUTHOR)
    tables = {
        "figure 1": figure1,
        "figure 2A": _planted(
            300, 200, 12, network="author_poisson", density=0.25, noise=0.5, **AUTHOR
        ),
        "figure 2B": _planted(
            200, 200, 12, network="author_powerlaw", density=0.4, noise=0.1, **AUTHOR
        ),
        "figure 3A": _planted(
            50, 200, 10, network="author_poisson", density=0.2, noise=0.5, **AUTHOR
        ),
        "no noise, few variables": _planted(100, 40, 12, density=0.1, noise=0.0, weights="author"),
        "no noise, density 0.5": _planted(60, 80, 6, density=0.5, noise=0.0, weights="author"),
        "heavy-tailed noise": _planted(
            100, 200, 10, network="hubs", density=0.2, noise=0.5, noise_kind="heavy"
        ),
        "background 0.2": _foreign("background", 100, 300, 12, 0.2),
        "correlated 0.5": _foreign("correlated", 100, 250, 10, 0.5),
        "correlated 0.8, sampled": replace(
            _foreign("correlated", 50, 100, 5, 0.8),
            parts=("rcweb.engine.posterior", "rcweb.engine.estimate", "rcweb.engine.effort"),
        ),
        "one-hot": _foreign("one-hot", 100, 300, 8, 0.0),
        "very sparse rows": _foreign("very sparse rows", 60, 1500, 15, 0.3),
        "holes": _changed(figure1, _with_holes),
        "single errors, P unknown": replace(_changed(figure1, _with_errors), asked="auto"),
        "no logs were taken": _amounts(100, 250, 8, density=0.1, noise=0.4),
        "two studies": replace(_changed(figure1, _in_two_studies), studies=2),
        "null: AR samples": replace(_foreign("null: AR samples", 60, 200, 8, 0.9), asked="auto"),
    }
    if os.environ.get("RCWEB_DATA"):
        tables["S. aureus"] = PanelTable(_real, 15, real=True)
        tables["S. aureus, P unknown"] = PanelTable(
            _real,
            "auto",
            parts=("rcweb.engine.number", "rcweb.engine.spectrum", "rcweb.engine.outliers"),
            real=True,
        )
    return tables


PANEL = _panel()


@dataclass(frozen=True)
class SensitivityCell:
    """A table of the panel with one constant of the engine at `factor` times its value."""

    figure: str
    panel: str
    constant: str = DEFAULTS
    factor: float = 1.0

    @property
    def label(self) -> str:
        """A name to read, unique within a plan."""
        return f"{self.panel}, {self.constant or 'defaults'} x {self.factor:g}"

    @property
    def key(self) -> str:
        """A name that changes with every argument."""
        return f"{self.figure} {self.label}"

    @property
    def n_regulators(self) -> int:
        """Asked for; none where the number is unknown."""
        asked = PANEL[self.panel].asked
        return asked if isinstance(asked, int) else 0


def sensitivity_cells() -> tuple[SensitivityCell, ...]:
    """Table by table: the defaults, then every constant that is varied."""
    varied = [constant for constant in engine_constants() if constant.kept is None]
    cells = []
    for name, table in PANEL.items():
        cells.append(SensitivityCell("sensitivity", name))
        cells += [
            SensitivityCell("sensitivity", name, constant.name, factor)
            for constant in varied
            if constant.module.startswith(table.parts)
            for factor in FACTORS
        ]
    return tuple(cells)


def measure_sensitivity(cell: SensitivityCell, method: str, seed: int) -> dict[str, Any]:
    """Score of the table with the constant changed, and whether that changed any bit."""
    if method != "rcweb":
        raise ValueError(f"the constants are those of 'rcweb'; not {method!r}.")
    usual, read = _with_defaults(cell.panel, seed)
    if cell.constant == DEFAULTS:
        return usual
    # Not fitted again where no function that was called mentions the constant.
    if cell.constant not in read:
        return {**_beside(usual, usual), "seconds": 0.0, "read": False}
    constant = _constant(cell.constant)
    with set_to(constant, constant.scaled(cell.factor)):
        row = _scores(cell.panel, seed)
    return {**_beside(row, usual), "read": True}


def _beside(row: dict[str, Any], usual: dict[str, Any]) -> dict[str, Any]:
    """The row, how far its scores moved, and whether no bit did."""
    moves = {
        f"{name}_move": round(row[name] - usual[name], 6)
        for name in ("score", "rho", "fdr")
        if name in usual
    }
    return {**row, **moves, "same": row["bits"] == usual["bits"]}


def _constant(name: str) -> EngineConstant:
    return next(constant for constant in engine_constants() if constant.name == name)


@lru_cache(maxsize=64)
def _with_defaults(name: str, seed: int) -> tuple[dict[str, Any], frozenset[str]]:
    return names_read(lambda: _scores(name, seed))


def _scores(name: str, seed: int) -> dict[str, Any]:
    table, world = PANEL[name], _world(name, seed)
    start = time.perf_counter()
    found = _fit(table, world.data, seed)
    seconds = round(time.perf_counter() - start, 3)
    scored = _real_scores(found) if table.real else _world_scores(found, world)
    return {"seconds": seconds, **scored, "bits": fingerprint(found)}


@lru_cache(maxsize=64)
def _world(name: str, seed: int) -> World:
    return PANEL[name].draw(seed)


def _fit(table: PanelTable, X: Array, seed: int) -> TableFit:
    from rcweb.estimator import RCweb

    model = RCweb(table.asked, random_state=seed)
    if table.studies == 1:
        return table_fit(model.fit(X), X)
    study = np.arange(len(X)) * table.studies // len(X)
    return table_fit(model.fit(X, batch=study), X, batch=study)


def _world_scores(found: TableFit, world: World) -> dict[str, Any]:
    scores = score_world(found, world)
    row = {name: scores[name] for name in ("n_components_found", "n_edges", "n_certified")}
    if not len(world.rows):
        share = found.edges.any(axis=1).sum() / max(len(found.edges), 1)
        return {**row, "score": round(1 - float(share), 6)}
    right = scores["n_certified_right"]
    certified = (2 * right - scores["n_certified"]) / len(world.rows)
    row.update(rho=scores["rho"], fdr=scores["fdr"], certified=round(certified, 5))
    return {**row, "score": round((row["rho"] + 1 - row["fdr"] + certified) / 3, 6)}


def _real_scores(found: TableFit) -> dict[str, Any]:
    names = [str(name) for name in _real_table().columns]
    met = curve(found.scores, _real_sets(), REAL_EDGES, variables=names)
    met = met[met["signs"] == "together"]
    share = met["regulators"] / len(known_members(_real_sets(), names)[0])
    both = (met["recovery"] + met["relevance"]).clip(lower=1e-12)
    modules = 2 * met["recovery"] * met["relevance"] / both
    return {
        "n_components_found": len(found.scores),
        "n_edges": int(found.edges.sum()),
        "n_certified": 0 if found.certified is None else int(found.certified.sum()),
        "score": round(float((share + modules).mean() / 2), 6),
    }


def fingerprint(found: TableFit) -> str:
    """Of edges, weights, probabilities and grades: equal if and only if no bit differs."""
    text = hashlib.sha256()
    for values in (found.weights, found.edges, found.probability, found.certified, found.kept):
        if values is not None:
            text.update(np.ascontiguousarray(values).tobytes())
    return text.hexdigest()[:12]
