"""Writes a folder of files as the installed version of rcweb writes them, to be kept here.

    python tests/storage/older/write.py 1.0.0

Done once for every release (docs/releasing.md); ``test_older_files.py`` reads all of them. The
table is planted: ``simulate(60, 30, 3, density=0.25, noise=0.1, random_state=4)``, rounded; the
lists are its true targets.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from rcweb import RCweb, save_model

HERE = Path(__file__).parent
# Large, and not read by any command.
NOT_KEPT = ("report.html", "network.graphml", "network.cyjs")


def write(version: str) -> None:
    table = pd.read_csv(HERE / "table.csv", index_col=0)
    out = HERE / version
    files = ["--sets", HERE / "known.gmt", "--samples", HERE / "sheet.tsv", "--group", "condition"]
    command = [sys.executable, "-m", "rcweb.cli", "fit", HERE / "table.csv", "-o", out / "result"]
    out.mkdir()
    subprocess.run([*map(str, [*command, *files]), "--components", "3"], check=True)
    for name in NOT_KEPT:
        (out / "result" / name).unlink()
    models = {"paper": RCweb(3, method="paper").fit(table)}
    if hasattr(RCweb, "guide"):
        guided = RCweb(3, random_state=0).fit(table).guide(HERE / "known.gmt")
        studies = RCweb(3, random_state=0).fit(table, batch=["first"] * 30 + ["second"] * 30)
        models |= {"guided": guided, "studies": studies}
    for name, model in models.items():
        save_model(model, out / f"{name}.rcweb")
        activities = model.transform(table)
        np.savez_compressed(out / f"{name}.npz", activities=activities, C=model.components_)


if __name__ == "__main__":
    write(sys.argv[1])
