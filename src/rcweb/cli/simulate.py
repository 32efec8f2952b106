"""``rcweb simulate``: data with a known network behind it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rcweb.cli.console import Console, with_console
from rcweb.cli.options import overwrite_option

SIMULATION_FILES = (
    "data.tsv",
    "true_network.tsv",
    "true_activities.tsv",
    "true_sets.gmt",
    "provenance.json",
)


@click.command(
    short_help="Draw data with a known network behind it.",
    epilog="\b\nExample:\n"
    "  rcweb simulate -o planted --regulators 20 --noise 0.2\n"
    "  rcweb fit planted/data.tsv -o found --sets planted/true_sets.gmt",
)
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, help="Folder.")
@click.option("--samples", "n_samples", type=click.IntRange(1), default=280, show_default=True)
@click.option("--variables", "n_features", type=click.IntRange(1), default=500, show_default=True)
@click.option("--regulators", "n_regulators", type=click.IntRange(1), default=30, show_default=True)
@click.option(
    "--network",
    default="poisson",
    show_default=True,
    help="poisson, powerlaw, hubs, modules, author_poisson or author_powerlaw.",
)
@click.option("--density", type=float, default=0.1, show_default=True, help="Of edges.")
@click.option(
    "--weights",
    default="normal",
    show_default=True,
    help="normal, uniform, bounded, positive or author.",
)
@click.option(
    "--states",
    "regulators",
    default="uniform",
    show_default=True,
    help="Of regulators: uniform, gaussian, correlated, autocorrelated or heavy.",
)
@click.option("--noise", type=float, default=0.1, show_default=True, help="sd / sd of the signal.")
@click.option("--seed", "random_state", type=click.IntRange(0), default=0, show_default=True)
@overwrite_option
@with_console
def simulate(out: Path, overwrite: bool, console: Console, **parameters: Any) -> None:
    """Draw a sparse network and noisy data from it; the truth is written beside the data.

    Writes data.tsv, true_network.tsv, true_activities.tsv, true_sets.gmt (for --sets) and
    provenance.json (the parameters).
    """
    import numpy as np
    import pandas as pd

    # Imported here, as in all commands: `rcweb --help` must answer at once.
    from rcweb.lab.simulate import simulate as draw
    from rcweb.network import Network
    from rcweb.network.formats import tsv
    from rcweb.storage.folder import check_folder, replacing_folder
    from rcweb.storage.provenance import provenance

    check_folder(out, SIMULATION_FILES, overwrite=overwrite)
    truth = draw(**parameters)
    P, N = truth.network.shape
    network = Network(
        weights=truth.network,
        probability=(truth.network != 0).astype(np.float64),
        score=truth.network,
        regulators=tuple(f"regulator{p}" for p in range(P)),
        targets=tuple(f"variable{n}" for n in range(N)),
    )
    samples = pd.Index([f"sample{m}" for m in range(len(truth.data))], name="sample")
    data = pd.DataFrame(truth.data, index=samples, columns=list(network.targets))
    activities = pd.DataFrame(truth.activities, index=samples, columns=list(network.regulators))
    record = provenance(inputs={}, parameters=parameters, seed=parameters["random_state"])
    with replacing_folder(out, SIMULATION_FILES, record, overwrite=overwrite) as folder:
        texts = {
            "data.tsv": tsv(data, index=True),
            "true_network.tsv": network.to_tsv(),
            "true_activities.tsv": tsv(activities, index=True),
            "true_sets.gmt": network.to_gmt(),
        }
        for name, text in texts.items():
            # newline="": the same bytes on every system.
            (folder / name).write_text(text, encoding="utf-8", newline="")
    M = len(samples)
    summary = {"out": str(out), "n_samples": M, "n_variables": N, "n_edges": network.n_edges}
    console.result(
        summary,
        f"{M} samples x {N} variables driven by {P} regulators over {network.n_edges:,} edges: "
        f"{out / 'data.tsv'}",
    )
