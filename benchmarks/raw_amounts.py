"""Real tables of which no logs were taken: how many known regulators are met all the same?

``python benchmarks/raw_amounts.py`` takes the antilogarithm of the tables of E. coli and yeast
(RCWEB_DATA) and fits amounts as they are (``response="linear"``), as "auto" takes them, and their
logs, each with the number of regulators told and with "auto". One line each, with the known
regulators met by the strongest 500 to 4,000 edges, to ``benchmarks/results/raw_amounts/table.csv``.
FastICA is told P. About three minutes on one core.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from rcweb import RCweb
from rcweb.knowledge import read_gmt
from rcweb.lab.benchmark.curves import curve
from rcweb.lab.benchmark.fits import find
from rcweb.lab.datasets.files import required_data_folder

# Logs to base 2, and what was added to the amounts before.
TABLES = {
    "E. coli": ("ecoli_precise/log_tpm.parquet", "ecoli_precise/regulons.gmt", 92, 1.0),
    "yeast": ("yeast_m3d_s98/expression.parquet", "yeast_tf/yeastract_c3.gmt", 100, 0.0),
}
NUMBERS = (500, 1000, 2000, 4000)
OUT = Path(__file__).parent / "results" / "raw_amounts" / "table.csv"


def line(name: str, given: str, asked: str) -> dict[str, object]:
    """One fit: certified and found regulators, and known ones met."""
    path, sets, P, added = TABLES[name]
    folder = required_data_folder()
    table = pd.read_parquet(folder / path)
    logs = table.to_numpy(np.float64)
    X = logs if given == "logs" else np.exp2(logs) - added
    floor = np.nan
    if asked == "FastICA":
        scores, grades = find(X, P, "fastica", 0, None).scores, {}
    else:
        response = "linear" if given == "amounts, as they are" else "auto"
        P_asked = "auto" if asked == "auto" else P
        model = RCweb(P_asked, response=response, random_state=0).fit(X)
        scores = model.edge_score_
        grades = {grade: int(model.diagnosis_[grade].sum()) for grade in ("certified", "found")}
        floor = model.response_[0] if model.response_.size else np.nan
    met = curve(scores, read_gmt(folder / sets), NUMBERS, variables=list(table.columns))
    counts = met.loc[met["signs"] == "together"].set_index("n_edges")["regulators"]
    return {
        "table": name, "given": given, "asked": asked, "floor": round(float(floor), 3), **grades,
        **{f"met with {n}": int(counts[n]) for n in NUMBERS},
    }  # fmt: skip


def main(out: Path) -> None:
    """Write the table."""
    warnings.simplefilter("ignore")
    out.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    for name in TABLES:
        for given in ("amounts, as they are", "amounts", "logs"):
            for asked in ("known", "auto", "FastICA"):
                if (given, asked) == ("amounts", "FastICA"):
                    continue  # as they are
                lines.append(line(name, given, asked))
                print(*lines[-1].values(), flush=True)
    pd.DataFrame(lines).convert_dtypes().to_csv(out, index=False)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else OUT)
