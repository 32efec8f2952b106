"""The public interface as a typed program uses it; ``mypy --strict`` must accept it.

Read by mypy (``test_typing.py``) and not run. ``assert_type`` fails where a result has no type.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, assert_type

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

import rcweb
import rcweb.activity
import rcweb.datasets
import rcweb.knowledge
import rcweb.plot
import rcweb.report
import rcweb.simulate
from rcweb import RCweb, fit_anndata, load_model, read_table, save_model
from rcweb.activity import Comparison, Stability
from rcweb.datasets import Dataset, load_ecoli
from rcweb.estimator.forecast import Forecast, forecast
from rcweb.knowledge import GeneSets, Overlaps
from rcweb.lab.metrics import Recovery, score_network
from rcweb.network import Explanation, Network
from rcweb.report import ReportData
from rcweb.simulate import Simulation, simulate
from rcweb.tables import InputCheck, ReadOptions, Table

Floats = NDArray[np.float64]


def planted() -> Simulation:
    truth = simulate(100, 80, 4, density=0.2, random_state=0)
    assert_type(truth, Simulation)
    assert_type(truth.data, Floats)
    assert_type(truth.network, Floats)
    assert_type(truth.edges, NDArray[np.bool_])
    assert_type(rcweb.simulate.simulate(10, 8, 2), Simulation)
    return truth


def fit(data: Floats) -> RCweb:
    model = RCweb(n_components="auto", fdr=0.1, random_state=0, max_memory="4GB")
    assert_type(model.fit(data), RCweb)
    assert_type(model.fit([data, data]), RCweb)
    assert_type(model.fit(data, batch=["a", "b"]), RCweb)
    assert_type(model.fit_transform(data), Floats)
    assert_type(model.transform(data), Floats)
    activities, std = model.transform(data, return_std=True)
    assert_type(activities, Floats)
    assert_type(std, Floats)
    assert_type(model.inverse_transform(activities), Floats)
    assert_type(model.score(data), float)
    return model


def results(model: RCweb) -> None:
    assert_type(model.components_, Floats)
    assert_type(model.n_components_, int)
    assert_type(model.weights_, Floats)
    assert_type(model.weights_sd_, Floats | None)
    assert_type(model.edge_probability_, Floats)
    assert_type(model.edge_score_, Floats)
    assert_type(model.noise_, Floats)
    assert_type(model.projection_, Floats)
    assert_type(model.mean_, Floats)
    assert_type(model.n_samples_, int)
    assert_type(model.n_features_in_, int)
    assert_type(model.feature_names_in_, NDArray[np.object_])
    assert_type(model.rotation_, Floats)
    assert_type(model.observed_, Floats)
    assert_type(model.limits_, Floats)
    assert_type(model.singular_values_, Floats)
    assert_type(model.exact_zeros_, bool)
    assert_type(model.reason_, str)
    assert_type(model.warnings_, tuple[str, ...])
    assert_type(model.input_, InputCheck)
    assert_type(model.diagnosis_, pd.DataFrame)
    assert_type(model.evidence_, pd.DataFrame)
    assert_type(model.regulator_names_, dict[str, str])
    assert_type(model.target_names_, dict[str, str])
    assert_type(model.route_, str)
    assert_type(model.passes_, int)
    assert_type(model.set_names({"rcweb0": "fur"}, targets={"b0001": "thrL"}), RCweb)


def network(model: RCweb, folder: Path) -> None:
    found = model.network_
    assert_type(found, Network)
    assert_type(found.edges(min_probability=0.9), pd.DataFrame)
    assert_type(found.target_sets(), dict[str, list[str]])
    assert_type(found.shape, tuple[int, int])
    assert_type(found.regulators, tuple[str, ...])
    assert_type(found.grades, tuple[str, ...])
    assert_type(found.rename({"rcweb0": "fur"}), Network)
    assert_type(found.to_graphml(), str)
    assert_type(found.save(folder / "network.tsv"), Path)


def known_targets(model: RCweb, data: Floats) -> None:
    guided = model.guide({"fur": ["fepA", "fhuA"]}, groups=None)
    assert_type(guided, RCweb)
    assert_type(guided.prior_, pd.DataFrame)
    assert_type(guided.prior_sources_, pd.DataFrame)
    assert_type(guided.prior_probability_, Floats)
    assert_type(guided.prior_score_, Floats)
    assert_type(guided.prior_weights_, Floats)
    assert_type(guided.prior_activities(data), Floats)
    assert_type(guided.prior_activities(data, return_std=True), tuple[Floats, Floats])
    assert_type(guided.new_targets(), pd.DataFrame)
    assert_type(guided.guided, bool)


def studies(model: RCweb) -> None:
    assert_type(model.studies_, pd.DataFrame)
    assert_type(model.study_names_, tuple[str, ...])
    assert_type(model.study_means_, Floats)
    assert_type(model.study_noise_, Floats)


def one_variable(model: RCweb, data: Floats) -> None:
    explanation = model.explain("fepA", data)
    assert_type(explanation, Explanation)
    assert_type(explanation.regulators, pd.DataFrame)
    assert_type(explanation.explained, float)


def files(folder: Path) -> RCweb:
    table = read_table(folder / "table.csv", ReadOptions(transpose=True))
    assert_type(table, Table)
    assert_type(table.frame(), pd.DataFrame)
    assert_type(table.samples, tuple[str, ...])
    model = RCweb().fit(table.frame())
    assert_type(save_model(model, folder / "model.rcweb"), None)
    assert_type(load_model(folder / "model.rcweb"), RCweb)
    assert_type(rcweb.__version__, str)
    return model


def activity(model: RCweb, other: RCweb, activities: pd.DataFrame, sheet: pd.DataFrame) -> None:
    contrasts = rcweb.activity.contrast(activities, sheet["condition"], reference="wt")
    assert_type(contrasts, pd.DataFrame)
    assert_type(rcweb.activity.associate(activities, sheet), pd.DataFrame)
    assert_type(rcweb.activity.design(activities, sheet, "condition"), pd.DataFrame)
    result = rcweb.activity.compare(model, other, names=("A", "B"))
    assert_type(result, Comparison)
    assert_type(result.table, pd.DataFrame)
    assert_type(rcweb.activity.resample_stability(model, activities), Stability)


def knowledge(model: RCweb, folder: Path, activities: pd.DataFrame) -> None:
    known = rcweb.knowledge.read_sets(folder / "known.gmt")
    assert_type(known, GeneSets)
    assert_type(GeneSets.from_dict({"fur": ["fepA"]}), GeneSets)
    assert_type(known.within(["fepA"], min_size=1), GeneSets)
    names = rcweb.knowledge.name_regulators(model, known)
    assert_type(names, pd.DataFrame)
    assert_type(rcweb.knowledge.enrich(model.network_, known), pd.DataFrame)
    overlaps = rcweb.knowledge.overlap_test(model, known)
    assert_type(overlaps, Overlaps)
    assert_type(overlaps.table(max_q=0.05), pd.DataFrame)
    assert_type(rcweb.knowledge.match_measured(activities, activities), pd.DataFrame)


def figures(model: RCweb, contrasts: pd.DataFrame, axes: Axes) -> None:
    assert_type(rcweb.plot.targets(model.network_, "rcweb0", n=10, ax=axes), Axes)
    assert_type(rcweb.plot.volcano(contrasts), Axes)
    assert_type(rcweb.plot.spectrum(model), Axes)


def page(model: RCweb, data: pd.DataFrame, folder: Path) -> None:
    shown = rcweb.report.report_data(model, data, title="Iron")
    assert_type(shown, ReportData)
    assert_type(rcweb.report.write_report(folder / "report.html", shown), Path)


def annotated(adata: Any) -> None:
    assert_type(fit_anndata(adata, n_components=20, layer="log"), RCweb)


def scored(model: RCweb, truth: Simulation) -> None:
    score = score_network(model.components_, truth.network)
    assert_type(score, Recovery)
    assert_type(score.rho, float)


def before_the_fit() -> None:
    expected = forecast((100_000, 20_000), n_components=50, kind="sparse", nnz=10**8)
    assert_type(expected, Forecast)
    assert_type(expected.peak_bytes, int)


def public_data() -> None:
    ecoli = load_ecoli()
    assert_type(ecoli, Dataset)
    assert_type(ecoli.expression, pd.DataFrame)
    assert_type(rcweb.datasets.load_yeast().known, GeneSets)
