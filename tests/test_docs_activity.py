"""The code of docs/activity.md runs as it stands, and its numbers are those it gives."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[1] / "docs" / "activity.md").read_text(encoding="utf-8")
SECTIONS = {
    section.partition("\n")[0]: section.split("```python\n")[1].split("```")[0]
    for section in PAGE.split("\n## ")
    if "```python" in section
}
REAL = "Which regulators answer to paraquat, and through which genes"


def run(title: str, names: dict) -> dict:
    exec(compile(SECTIONS[title], f"docs/activity.md, {title}", "exec"), names)
    return names


def test_examples_run_one_after_the_other() -> None:
    """Later sections use what earlier ones made, as a reader would."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    assert len(SECTIONS) == PAGE.count("```python")
    names: dict = {}
    for title in SECTIONS:
        if title != REAL:
            run(title, names)
    assert names["sd"].shape == names["activities"].shape
    assert (names["lower"] < names["upper"]).all()
    assert names["shares"][["condition", "batch", "replicate"]].sum(axis=1).round(9).eq(1).all()
    matplotlib.pyplot.close("all")


@pytest.mark.data
@pytest.mark.filterwarnings("ignore::rcweb.tables.InputWarning")
def test_paraquat_is_answered_by_soxs() -> None:
    """The answer on the page is the one that the code gives."""
    if "RCWEB_DATA" not in os.environ:
        pytest.skip("RCWEB_DATA does not name the folder of real tables")
    names = run(REAL, {})
    first = names["paraquat"].iloc[0]
    printed = next(line.split() for line in PAGE.splitlines() if line.split()[:1] == ["soxS"])
    assert first["regulator"] == printed[0] == "soxS"
    assert first["change"] == pytest.approx(float(printed[1]), rel=0.05)
    against = names["against_paraquat"].set_index("group")
    for strain in ("delsoxs", "delsoxr"):
        top = against.loc[f"oxidative__{strain}_pq"].iloc[0]
        assert (top["regulator"], top["change"] < -5) == ("soxS", True)
    genes = set(names["targets"].head(8)["target_name"])
    assert {"soxS", "fpr", "fumC", "sodA", "nfo"} <= genes
    assert set(names["lists"].head(3)["regulator"]) == {"soxS", "soxR", "oxyR"}
