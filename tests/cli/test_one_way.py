"""One way through: what a command needs is computed once and passed on."""

from __future__ import annotations

from collections import Counter
from pkgutil import resolve_name

import pytest

from rcweb.cli.app import run

FIT = ("--method", "paper", "--components", "4")
COUNTED = {
    "fit": "rcweb.estimator.RCweb.fit",
    "activities": "rcweb.blocks.activities.Project.activities",
    "score": "rcweb.estimator.RCweb.score",
    "naming": "rcweb.cli.pipeline.annotate_model",
    "report": "rcweb.report.report_data",
    "page": "rcweb.report.write_report",
    "model file": "rcweb.estimator.save_model",
}


@pytest.fixture
def calls(monkeypatch) -> Counter[str]:
    """How often each of `COUNTED` is called."""
    found: Counter[str] = Counter()
    for what, path in COUNTED.items():
        home, _, name = path.rpartition(".")
        owner = resolve_name(home)
        monkeypatch.setattr(owner, name, counting(getattr(owner, name), what, found))
    return found


def counting(function, what, found):
    def counted(*args, **kwargs):
        found[what] += 1
        return function(*args, **kwargs)

    return counted


def test_a_fit_computes_everything_once(planted, tmp_path, calls):
    """With known sets and terms: seven times the activities and two reports, before."""
    sets = ("--sets", str(planted / "true_sets.gmt"), "--terms", str(planted / "true_sets.gmt"))
    data = str(planted / "data.tsv")
    assert run(["fit", data, "-o", str(tmp_path / "out"), *FIT, *sets, "-q"]) == 0
    assert calls == dict.fromkeys(COUNTED, 1)


def test_annotate_fits_and_projects_nothing(planted, tmp_path, calls):
    out = str(tmp_path / "out")
    assert run(["fit", str(planted / "data.tsv"), "-o", out, *FIT, "-q"]) == 0
    calls.clear()
    assert run(["annotate", out, "--sets", str(planted / "true_sets.gmt"), "-q"]) == 0
    assert calls == {"naming": 1, "report": 1, "page": 1, "model file": 1}
