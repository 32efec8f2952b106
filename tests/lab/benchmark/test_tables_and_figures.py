"""Tables say what the rows say; figures show it."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcweb.lab.baselines import ica
from rcweb.lab.benchmark.curves import strongest
from rcweb.lab.benchmark.figures import (
    accuracy_figure,
    draw,
    heat_map,
    scaling_figure,
    speed_figure,
)
from rcweb.lab.benchmark.figures.style import REFERENCES, STYLE
from rcweb.lab.benchmark.measure import measure, score
from rcweb.lab.benchmark.methods import METHODS, Estimate, fit_table, method_lines
from rcweb.lab.benchmark.organisms import measure_organism, organism_cells
from rcweb.lab.benchmark.scenarios import Cell, figure4, published_figure3
from rcweb.lab.benchmark.slopes import scaling_exponents, slope
from rcweb.lab.benchmark.summary import (
    accuracy_table,
    gap_closed,
    short_labels,
    summarise,
    time_ratio,
    to_markdown,
)


@pytest.fixture
def rows() -> pd.DataFrame:
    """Two cells, four methods, three seeds with numbers that can be checked by hand."""
    rho = {"oracle": 1.0, "fastica": 0.8, "ksvd": 0.5, "rcweb": 0.95}
    lines = []
    for P in (10, 20):
        for method, value in rho.items():
            for seed in range(3):
                lines.append(
                    {
                        "cell": f"cell {P}",
                        "label": f"fig3 A P={P}",
                        "figure": "fig3",
                        "panel": "A",
                        "n_features": 500,
                        "n_samples": 100,
                        "n_regulators": P,
                        "method": method,
                        "seed": seed,
                        "threads": 1,
                        "status": "ok",
                        "rho": value + 0.01 * (seed - 1),
                        "f1": value,
                        "seconds": 2.0 if method == "rcweb" else 1.0,
                    }
                )
    return pd.DataFrame(lines)


def test_gap_closed_by_hand(rows: pd.DataFrame) -> None:
    """(0.95 - 0.8) / (1 - 0.8) = 0.75, the rival being FastICA and not K-SVD."""
    gaps = gap_closed(summarise(rows))
    assert list(gaps["rival"]) == ["fastica", "fastica"]
    np.testing.assert_allclose(gaps["gap_closed"], 0.75)


def test_no_gap_where_the_oracle_is_not_ahead(rows: pd.DataFrame) -> None:
    """A division by nothing would make a mean meaningless."""
    rows.loc[rows["method"] == "fastica", "rho"] = 0.9999
    assert gap_closed(summarise(rows))["gap_closed"].isna().all()


def test_failures_are_counted_and_do_not_move_means(rows: pd.DataFrame) -> None:
    """A failed row has no score; the summary counts it."""
    rows.loc[0, ["status", "rho"]] = ["failed", np.nan]
    summary = summarise(rows)
    line = summary[(summary["method"] == "oracle") & (summary["n_regulators"] == 10)].iloc[0]
    assert (line["n_ok"], line["n_failed"]) == (2, 1)
    assert line["rho"] == pytest.approx(1.005)


def test_times_and_text(rows: pd.DataFrame) -> None:
    """Ratios to FastICA, and mean with spread as text."""
    summary = summarise(rows)
    np.testing.assert_allclose(time_ratio(summary)["ratio"], 2.0)
    table = accuracy_table(summary)
    assert table.loc[0, "rcweb"] == "0.950 ± 0.010"
    text = to_markdown(table)
    assert text.splitlines()[1] == "| --- | --- | --- | --- | --- |"


@given(exponent=st.floats(-2, 4), factor=st.floats(1e-3, 1e3))
def test_slope_of_a_power_law(exponent: float, factor: float) -> None:
    """Exact power laws give their exponent and limits that close on it."""
    x = np.array([10.0, 20, 40, 80])
    value, low, high = slope(x, factor * x**exponent)
    assert value == pytest.approx(exponent, abs=1e-7)
    assert low <= value <= high
    assert high - low < 1e-5


def test_confidence_limits_cover() -> None:
    """95 % limits hold the true exponent in about 95 of 100 noisy repeats (4 sd allowed)."""
    rng = np.random.default_rng(0)
    x = np.repeat([10.0, 20, 40, 80], 3)
    hits = 0
    for _ in range(400):
        _, low, high = slope(x, x**1.5 * np.exp(0.3 * rng.standard_normal(len(x))))
        hits += low <= 1.5 <= high
    assert abs(hits / 400 - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 400)


def test_calibration_by_hand() -> None:
    """Two of three edges called are true; of the two certain ones, one."""
    cell = Cell("t", "p", 20, 4, 1, density=0.5, noise=0.0)
    sim = cell.draw(0)
    sim.network[:] = [[1.0, 2.0, 0.0, 0.0]]
    found = np.array([[1.0, 2.0, 0.5, 0.0]])
    row = score(Estimate(found, probability=np.array([[0.99, 0.8, 0.95, 0.1]])), sim)
    assert row["fdr"] == pytest.approx(1 / 3, abs=1e-4)
    assert row["precision_confident"] == 0.5
    assert row["n_confident"] == 2


def test_measure_scores_the_oracle_perfectly() -> None:
    """Without noise the oracle has every edge: the scoring has no leak of its own."""
    row = measure(Cell("t", "p", 40, 60, 4, density=0.2, noise=0.0), "oracle", 0)
    assert row["exact_support"]
    assert row["cpu_seconds"] > 0
    assert row["rho"] == pytest.approx(1.0, abs=1e-4)


def test_rivals_with_posterior_means_are_scored_on_them() -> None:
    """BFRM's entries below probability 0.5 count for its accuracy, as those of rcweb do."""
    sim = Cell("t", "p", 40, 60, 4, density=0.2, noise=0.5).draw(0)
    found = METHODS["bfrm"].run(sim, 4, 0)
    assert found.weights is not None
    assert found.probability is not None
    assert np.count_nonzero(found.weights) > np.count_nonzero(found.network)
    kept = found.network != 0
    np.testing.assert_array_equal(found.weights[kept], found.network[kept])
    assert METHODS["fastica"].run(sim, 4, 0).weights is None


def test_strongest_keeps_n() -> None:
    """Exactly the n largest entries, signs kept."""
    S = np.array([[3.0, -2.0, 1.0], [0.0, -5.0, 0.5]])
    np.testing.assert_array_equal(strongest(S, 3), [[3, -2, 0], [0, -5, 0]])
    assert not strongest(S, 0).any()


def test_every_rival_has_a_record() -> None:
    """Names are unique, and every line of the page's table of settings is filled."""
    lines = method_lines()
    assert lines["method"].is_unique
    assert len(lines) == len(METHODS)
    assert (lines[["what it is", "settings", "told"]] != "").all(axis=None)
    assert {"ebmf", "optica", "ssl-pxl", "mofa", "cnmf", "vsp"} <= set(METHODS)


def test_a_rival_fits_a_table_with_the_options_of_real_tables() -> None:
    """FastICA with logcosh, uncut, as its record says; rcweb has no such `fit`."""
    X = np.random.default_rng(0).standard_t(3, size=(30, 50))
    found = fit_table("fastica", X, 3, 1)
    expected = ica.fit(X, 3, random_state=1, fun="logcosh")
    np.testing.assert_array_equal(found.network, expected.network)
    np.testing.assert_allclose(found.scores.std(axis=1), 1.0)
    with pytest.raises(ValueError, match="rcweb"):
        fit_table("rcweb", X, 3, 1)


def test_every_method_has_a_style() -> None:
    """A method without a colour would stop a finished run at its figure."""
    assert set(METHODS) - REFERENCES <= set(STYLE)


def test_published_points_are_complete() -> None:
    """All methods and panels of published figure 3 are in the table, as correlations."""
    table = published_figure3()
    assert set(table["panel"]) == {"A", "B"}
    assert set(table["method"]) == {"RCweb", "emPCA", "K-SVD"}
    assert table["rho"].between(0, 1).all()


def test_figures_show_the_numbers(rows: pd.DataFrame) -> None:
    """Lines carry the means, published points are overlaid, every panel is labelled."""
    import matplotlib.pyplot as plt

    summary = summarise(rows)
    figure = accuracy_figure(summary, published=True)
    ax = figure.axes[0]
    labels = ax.get_legend_handles_labels()[1]
    assert "oracle" in labels
    assert "K-SVD, published" in labels
    assert ax.get_xlabel() == "M, number of samples"
    heat = heat_map(summary)
    texts = [t.get_text() for t in heat.axes[0].texts]
    assert texts.count("0.950") == 2
    speed = speed_figure(summary)
    assert speed.axes[0].get_ylabel() == "rcweb, seconds"
    plt.close("all")


def test_one_row_per_panel_one_column_per_size(rows: pd.DataFrame) -> None:
    """Two panels at two N: four axes; each line has the means of its own panel and N."""
    import matplotlib.pyplot as plt

    parts = []
    for k, (panel, N) in enumerate([("A", 500), ("A", 1000), ("B", 500), ("B", 1000)]):
        part = rows.assign(panel=panel, n_features=N, rho=rows["rho"] - 0.1 * k)
        part["n_samples"] = 10 * part["n_regulators"]
        part["cell"] = part["label"] = f"{panel} {N} " + part["n_regulators"].astype(str)
        parts.append(part)
    summary = summarise(pd.concat(parts))
    figure = accuracy_figure(summary)
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert [t[0] for t in titles] == ["A", "A", "B", "B"]
    assert ["N = 1000" in t for t in titles] == [False, True, False, True]
    for k, ax in enumerate(figure.axes):
        drawn = {line.get_label(): line for line in ax.get_lines()}
        np.testing.assert_allclose(drawn["oracle"].get_ydata(), 1 - 0.1 * k)
    assert short_labels(summary)[0] == "A  P=10  M=100  N=500"
    plt.close("all")


def test_conventions_have_figures_of_their_own(rows: pd.DataFrame, tmp_path: Path) -> None:
    """The honest convention is not drawn over the author's."""
    honest = rows.assign(panel="A honest", cell="h " + rows["cell"], label="h " + rows["label"])
    both = pd.concat([rows, honest])
    paths = draw("fig3", both, summarise(both), tmp_path)
    names = {p.name for p in paths}
    assert names == {f"{n}{s}.png" for n in ("accuracy", "who_wins") for s in ("", "_honest")}
    assert all(p.stat().st_size > 5000 for p in paths)


def test_scaling_figure_reports_exponents() -> None:
    """Legends carry the exponent of each method and size."""
    import matplotlib.pyplot as plt

    lines = [
        {
            "panel": c.panel,
            "n_regulators": c.n_regulators,
            "n_samples": c.n_samples,
            "n_features": c.n_features,
            "method": "fastica",
            "threads": 1,
            "status": "ok",
            "cpu_seconds": 1e-6 * c.n_regulators**2 * c.n_samples * c.n_features**0.5,
        }
        for c in figure4()
    ]
    rows = pd.DataFrame(lines)
    exponents = scaling_exponents(rows).set_index("size_varied")["exponent"]
    np.testing.assert_allclose(exponents[["P", "M", "N"]], [2, 1, 0.5], atol=1e-6)
    figure = scaling_figure(rows)
    assert "2.0" in figure.axes[0].get_legend().get_texts()[0].get_text()
    plt.close("all")


@pytest.mark.data
@pytest.mark.skipif(not os.environ.get("RCWEB_DATA"), reason="RCWEB_DATA names no folder")
def test_fastica_on_ecoli_matches_the_known_counts() -> None:
    """E. coli against RegulonDB with 4,000 edges: about 107 regulators; permuted, none."""
    row = measure_organism(organism_cells()[0], "fastica", 0)
    curve, permuted = (
        pd.DataFrame(row[name]).query("n_edges == 4000 and signs == 'apart'").iloc[0]
        for name in ("curve", "permuted")
    )
    assert 98 <= curve["regulators"] <= 116
    assert 185 <= curve["pairs"] <= 250
    assert permuted["pairs"] <= 2
