"""Every example in a docstring runs and prints what it says."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

from reference_pages import shown_objects

PACKAGE = Path(__file__).parents[1] / "src" / "rcweb"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def _modules() -> list[str]:
    """Names of the modules that hold an example."""
    return [
        ".".join(["rcweb", *path.relative_to(PACKAGE).with_suffix("").parts])
        for path in sorted(PACKAGE.rglob("*.py"))
        if ">>> " in path.read_text(encoding="utf-8")
    ]


# Shown in the reference without an example, and why.
WITHOUT = {
    "rcweb.datasets.load_ecoli": "fetches a package once",
    "rcweb.datasets.load_yeast": "reads tables that are not part of rcweb",
    "rcweb.datasets.cache_folder": "another folder on every machine",
    "rcweb.lab.benchmark.run": "takes minutes; tests/lab/benchmark runs a plan",
    "rcweb.lab.benchmark.read_rows": "reads what `run` writes",
    "rcweb.network.Network.target_position": "like `position`",
    "rcweb.network.Network.to_graphml": "long text; `save` has an example",
    "rcweb.network.Network.to_cytoscape": "long text; `save` has an example",
    "rcweb.network.Network.to_gmt": "long text; `save` has an example",
    "rcweb.network.Network.to_tsv": "long text; `save` has an example",
    "rcweb.knowledge.GeneSets.weights_or_ones": "one line, no argument",
    "rcweb.knowledge.Overlaps.best_sets": "rows as of `table`",
    "rcweb.knowledge.Overlaps.best_regulators": "rows as of `table`",
    "rcweb.report.ReportData.to_json": "long text",
    "rcweb.activity.Stability.regulators": "a table of what the class holds",
}


@pytest.mark.parametrize("module", _modules())
def test_examples_are_true(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that an example writes go into a folder of its own."""
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)
    here = import_module(module)
    found = doctest.testmod(here, optionflags=FLAGS)
    plt.close("all")
    assert found.failed == 0
    # None is in a place that doctest does not see.
    lines = Path(str(here.__file__)).read_text(encoding="utf-8").splitlines()
    assert found.attempted == sum(line.lstrip().startswith(">>> ") for line in lines)


def test_every_function_has_an_example() -> None:
    """Of those that the reference shows; methods too. Classes are made by them."""
    bare = {
        name
        for name, thing in shown_objects().items()
        if callable(thing) and not isinstance(thing, type) and ">>> " not in (thing.__doc__ or "")
    }
    assert bare == set(WITHOUT)
