"""``rcweb demo``: a real organism from table to named regulators."""

from __future__ import annotations

import io
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rcweb.cli.console import Console, with_console
from rcweb.cli.interrupt import advice
from rcweb.cli.knowledge import Annotations, Knowledge, Sources
from rcweb.cli.needs import check_output
from rcweb.cli.options import overwrite_option
from rcweb.cli.pipeline import FitParameters, fit_table, give_names
from rcweb.cli.results import FILES, write_result
from rcweb.cli.summary import summarise, summary_text

if TYPE_CHECKING:
    import pandas as pd

    from rcweb.engine.types import Array
    from rcweb.lab.datasets import Dataset

SHOWN = 10
PARAMETERS = FitParameters()


@click.command(
    short_help="A real organism, from table to named regulators.",
    epilog="\b\nExample:\n  rcweb demo -o demo",
)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    default=Path("rcweb-demo"),
    show_default=True,
    help="Result folder.",
)
@click.option("--simulated", is_flag=True, help="A planted network, without any download.")
@click.option("--open", "open_page", is_flag=True, help="Open the report in the browser.")
@overwrite_option
@with_console
def demo(out: Path, simulated: bool, open_page: bool, overwrite: bool, console: Console) -> None:
    """Regulators of E. coli from 278 RNA-seq samples, named by RegulonDB, with a report.

    Downloads the table once. If no package index can be reached, it shows a planted network and
    what was found of it instead.
    """
    check_output(out, FILES, Sources(), overwrite=overwrite)
    with console.interruptible(advice(out, f"{out} was not changed; run the same command again.")):
        dataset = None if simulated else _load(console)
        if dataset is None:
            page = _planted(out, console, overwrite)
        else:
            page = _ecoli(dataset, out, console, overwrite)
    if open_page:
        click.launch(str(page.resolve()))


def _load(console: Console) -> Dataset | None:
    from rcweb.lab.datasets import DatasetError, load_ecoli

    try:
        with console.step("fetching E. coli expression and RegulonDB"):
            return load_ecoli()
    # No network connection is no reason to show nothing.
    except DatasetError as error:
        console.say(f"The E. coli table is not available: {error}")
        console.say("Showing a simulated network instead.")
        return None


def _ecoli(dataset: Dataset, out: Path, console: Console, overwrite: bool) -> Path:
    from rcweb.tables.table import Table

    start = time.monotonic()
    frame = dataset.expression
    # No file to read, but the same path as `fit` from here on.
    table = Table(frame.to_numpy(), tuple(map(str, frame.index)), tuple(map(str, frame.columns)))
    console.say(f"{dataset.name}: {frame.shape[0]} samples x {frame.shape[1]:,} genes.")
    symbols = dataset.genes["symbol"].dropna()
    knowledge = Knowledge(
        known=dataset.known,
        terms=dataset.terms,
        groups=tuple(dataset.samples["group"].fillna("").astype(str)),
        labels={str(k): str(v) for k, v in symbols.items()},
        title=f"{dataset.name}: hidden regulators",
    )
    result = fit_table(table, PARAMETERS, dataset.name, Sources(), console)
    annotations = give_names(result, knowledge, console)
    write_result(out, result, knowledge, annotations, overwrite=overwrite)
    summary = summarise(out, result, annotations, time.monotonic() - start)
    best = best_known(annotations.names)
    summary["best_known"] = best.to_dict("records")
    console.result(
        summary, f"\n{best_known_text(best)}\n\n{summary_text(summary)}\n{dataset.source}"
    )
    return out / "report.html"


def best_known(names: pd.DataFrame | None) -> pd.DataFrame:
    """The known regulators found with the strongest evidence, each once."""
    if names is None:
        raise ValueError("There are no names.")
    named = names[names["name"] != ""].sort_values("log10_p", kind="stable")
    # A regulator found in two parts would take two of the ten lines.
    named = named.drop_duplicates("best_known").head(SHOWN)
    columns = ["name", "n_targets", "overlap", "known_size", "log10_p"]
    return named.rename_axis("regulator").reset_index()[["regulator", *columns]]


def best_known_text(best: pd.DataFrame) -> str:
    """The same as lines."""
    lines = [f"The {len(best)} best-known regulators found:"]
    for row in best.to_dict("records"):
        lines.append(
            f"  {row['name']!s:<14} {row['overlap']:>4} of {row['known_size']:>4} known targets "
            f"among {row['n_targets']:>4} found   p = 1e{row['log10_p']:.0f}   ({row['regulator']})"
        )
    return "\n".join(lines)


def _planted(out: Path, console: Console, overwrite: bool) -> Path:
    """Figure 1 of the paper: 500 variables, 280 samples, Poisson network, 10 % noise."""
    from rcweb.lab.metrics import score_network
    from rcweb.lab.simulate import simulate
    from rcweb.tables.table import Table

    start = time.monotonic()
    # A fixed seed: everybody sees the same demo.
    truth = simulate(280, 500, 30, network="poisson", density=0.1, noise=0.1, random_state=0)
    M, N = truth.data.shape
    table = Table(
        truth.data, tuple(f"sample{m}" for m in range(M)), tuple(f"variable{n}" for n in range(N))
    )
    result = fit_table(table, PARAMETERS, "simulated", Sources(), console)
    recovery = score_network(result.model.components_, truth.network, result.model.edge_score_)
    picture = _picture(truth.network, result.model.components_, console)
    knowledge = Knowledge(title="A planted network")
    write_result(out, result, knowledge, extra=picture, overwrite=overwrite)
    summary = summarise(out, result, Annotations(), time.monotonic() - start)
    summary |= {
        "accuracy": recovery.rho,
        "precision": recovery.precision,
        "recall": recovery.recall,
    }
    drawn = "".join(f"\nTrue and found network side by side: {out / name}" for name in picture)
    console.result(
        summary,
        f"\nPlanted: {len(truth.network)} regulators. Found: {summary['n_regulators']}. "
        f"Mean correlation of true and found rows {recovery.rho:.3f};\n"
        f"of the edges found {recovery.precision:.1%} are true, of the true ones "
        f"{recovery.recall:.1%} found.{drawn}\n\n{summary_text(summary)}",
    )
    return out / "report.html"


def _picture(true: Array, found: Array, console: Console) -> dict[str, bytes]:
    """The two networks as a file; nothing, and a word about it, without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        console.say("For a picture of the networks: pip install 'rcweb[plot]'")
        return {}
    from rcweb.plot import networks

    figure = Figure(figsize=(9, 4), layout="constrained")
    networks(true, found, ax=figure.subplots(1, 2, sharey=True))
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=150)
    return {"networks.png": stream.getvalue()}
