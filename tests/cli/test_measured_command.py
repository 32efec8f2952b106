"""``rcweb fit --measured``: the factors take part in the fit, and their table is written."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("click")

from rcweb import load_model
from rcweb.cli.app import run

FIT = ("--components", "4", "-q")


@pytest.fixture(scope="module")
def factors(planted, tmp_path_factory):
    """Two regulators in 15 samples, and one that is noise."""
    truth = pd.read_csv(planted / "true_activities.tsv", sep="\t", index_col=0).iloc[10:25, :2]
    noise = np.random.default_rng(0).standard_normal(len(truth))
    path = tmp_path_factory.mktemp("factors") / "factors.tsv"
    truth.assign(noise=noise).to_csv(path, sep="\t")
    return path


def test_the_table_is_that_of_the_model(planted, factors, tmp_path):
    """The file holds `measured_`; a factor that is noise is told as not seen, and the network is
    the one without measurements."""
    data, out = str(planted / "data.tsv"), tmp_path / "out"
    assert run(["fit", data, "-o", str(out), "--measured", str(factors), *FIT]) == 0
    table = pd.read_csv(out / "measured.tsv", sep="\t")
    kept = load_model(out / "model.rcweb").measured_
    assert table["factor"].tolist() == kept["factor"].tolist()
    assert table["regulator"].notna().tolist() == [True, True, False]
    assert table["reason"][2].startswith("not seen in these data")
    np.testing.assert_allclose(table["scale"], kept["scale"], rtol=1e-5)
    assert run(["fit", data, "-o", str(tmp_path / "blind"), *FIT]) == 0
    network = pd.read_csv(out / "network.tsv", sep="\t")
    blind = pd.read_csv(tmp_path / "blind" / "network.tsv", sep="\t")
    np.testing.assert_array_equal(network["weight"], blind["weight"])


def test_annotate_matches_other_factors_after_the_fit(planted, factors, tmp_path):
    """New measurements replace those of the fit; the network stays."""
    out = tmp_path / "out"
    fit = ["fit", str(planted / "data.tsv"), "-o", str(out), "--measured", str(factors), *FIT]
    assert run(fit) == 0
    weights = load_model(out / "model.rcweb").components_
    other = tmp_path / "other.tsv"
    pd.read_csv(factors, sep="\t", index_col=0).iloc[:, :1].add_prefix("new ").to_csv(
        other, sep="\t"
    )
    assert run(["annotate", str(out), "--measured", str(other), "-q"]) == 0
    model = load_model(out / "model.rcweb")
    assert len(model.measured_) == 1
    assert model.measured_["factor"][0].startswith("new ")
    np.testing.assert_array_equal(model.components_, weights)


def test_a_sample_that_the_table_has_not_is_an_error_before_the_fit(planted, factors, tmp_path):
    """Nothing is written."""
    wrong = tmp_path / "wrong.tsv"
    frame = pd.read_csv(factors, sep="\t", index_col=0)
    frame.rename(index={frame.index[0]: "nobody"}).to_csv(wrong, sep="\t")
    out = tmp_path / "out"
    assert run(["fit", str(planted / "data.tsv"), "-o", str(out), "--measured", str(wrong), *FIT])
    assert not out.exists()
