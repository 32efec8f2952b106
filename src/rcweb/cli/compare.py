"""``rcweb compare``: which regulators of one result are in another."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rcweb.cli.console import Console, with_console
from rcweb.cli.options import FILE, overwrite_option

if TYPE_CHECKING:
    import pandas as pd

    from rcweb.activity import Comparison
    from rcweb.cli.results import Result

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
COMPARE_FILES = ("matches.tsv", "matches.svg", "compare.html", "provenance.json")


@click.command(
    short_help="Which regulators of one result are in another.",
    epilog="\b\nExample:\n  rcweb compare results-2023 results-2024 -o compared",
)
@click.argument("first", metavar="OUT_A", type=FOLDER)
@click.argument("second", metavar="OUT_B", type=FOLDER)
@click.option(
    "--orthologs",
    type=FILE,
    help="A table whose first two columns are variables of OUT_A and of OUT_B.",
)
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), required=True, help="Folder for the answer."
)
@overwrite_option
@with_console
def compare(
    first: Path,
    second: Path,
    orthologs: Path | None,
    out: Path,
    overwrite: bool,
    console: Console,
) -> None:
    """Match the regulators of OUT_A and OUT_B, two folders that `rcweb fit` wrote.

    They may come from other samples, another seed, another data set or another organism. Variables
    are the same if they have the same name, or stand in one line of --orthologs. Writes matches.tsv
    (same, split, merged, lost, new), matches.svg and compare.html.
    """
    from rcweb.activity import compare as compare_models
    from rcweb.cli.results import read_result
    from rcweb.storage.folder import check_folder, replacing_folder
    from rcweb.storage.provenance import provenance

    inputs = [first, second, *([orthologs] if orthologs else [])]
    check_folder(out, COMPARE_FILES, inputs=inputs, overwrite=overwrite)
    with console.step("reading results"):
        a, b = read_result(first), read_result(second)
    comparison = compare_models(
        a.model,
        b.model,
        _read_orthologs(orthologs, a, b) if orthologs else None,
        activities=(a.activities, b.activities),
        names=_called(first, second),
    )
    record = provenance(inputs=_facts([a, b], inputs), parameters={}, seed=None)
    with (
        console.step("writing"),
        replacing_folder(out, COMPARE_FILES, record, overwrite=overwrite) as folder,
    ):
        for name, text in _texts(comparison, console).items():
            (folder / name).write_text(text, encoding="utf-8", errors="replace", newline="")
    summary = {
        "out": str(out),
        "n_common_variables": comparison.n_common,
        "n_common_samples": comparison.n_samples,
        "counts": comparison.counts,
        "summary": list(comparison.summary),
    }
    console.result(summary, f"{comparison}\nLook at {out / 'compare.html'}")


def _read_orthologs(path: Path, a: Result, b: Result) -> pd.DataFrame:
    import pandas as pd

    from rcweb.tables import TableError
    from rcweb.tables.sheets import read_columns

    columns = read_columns(path)
    if len(columns) < 2:
        raise TableError(
            f"{path.name} has one column; it must have two: variables of OUT_A and of OUT_B."
        )
    titles = list(columns)[:2]
    pairs = pd.DataFrame({title: columns[title] for title in titles})
    # A file without a header: its first line is a pair too.
    if titles[0] in a.model.network_.targets and titles[1] in b.model.network_.targets:
        pairs.loc[len(pairs)] = titles
    return pairs


def _called(first: Path, second: Path) -> tuple[str, str]:
    """Names of the folders, or A and B where those are equal."""
    names = (first.resolve().name, second.resolve().name)
    return names if all(names) and names[0] != names[1] else ("A", "B")


def _facts(results: list[Result], paths: list[Path]) -> dict[str, dict[str, Any]]:
    """Name and checksum of what was compared."""
    from rcweb.storage.checksum import checksum

    facts = {
        role: {"file": f"{path.name}/model.rcweb", "sha256": checksum(path / "model.rcweb")}
        for role, path in zip(("a", "b"), paths)
    }
    for role, result in zip(("a", "b"), results):
        facts[role]["data"] = str(result.provenance.get("inputs", {}).get("data", {}).get("file"))
    if len(paths) > len(results):
        facts["orthologs"] = {"file": paths[-1].name, "sha256": checksum(paths[-1])}
    return facts


def _texts(comparison: Comparison, console: Console) -> dict[str, str]:
    from rcweb.network.formats import tsv
    from rcweb.report import render_comparison

    figure = _figure(comparison, console)
    texts = {"matches.tsv": tsv(comparison.table)}
    texts["compare.html"] = render_comparison(comparison, figure)
    return texts | ({"matches.svg": figure} if figure else {})


def _figure(comparison: Comparison, console: Console) -> str:
    """The figure as SVG; empty, and a word about it, without matplotlib."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        console.say("For a figure of the matches: pip install 'rcweb[plot]'")
        return ""
    from rcweb.plot import comparison as draw
    from rcweb.plot.comparison_links import figure_size

    stream = io.StringIO()
    # Text stays text, and equal comparisons give equal bytes.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "rcweb"}):
        figure = Figure(figsize=figure_size(comparison), layout="constrained")
        draw(comparison, ax=figure.add_subplot())
        nothing = dict.fromkeys(("Date", "Creator"))
        figure.savefig(stream, format="svg", metadata=nothing)
    return stream.getvalue()
