"""Tables of the plan on constants."""

from __future__ import annotations

import pandas as pd

from rcweb.lab.benchmark.constants import CONTROL, EngineConstant, engine_constants
from rcweb.lab.benchmark.sensitivity import DEFAULTS
from rcweb.lab.benchmark.summary import to_markdown

# The panel's score may move by this much.
ALLOWED = 0.01
MOST_SENSITIVE = 10
CONSTANT_KINDS = {
    "choice": "thresholds and priors",
    "budget": "steps, starts and sizes",
    "guard": "tolerances and numerical guards",
    "other": "rounding, memory, messages, compiled loops, the seed",
}


def constant_table(rows: pd.DataFrame) -> pd.DataFrame:
    """One line per constant and factor, the largest move of the panel's score first.

    score, rho, fdr : changes of the means over the panel's tables
    worst : largest change of the score of one table, by size, with its sign
    read, changed : tables on which the constant is read, and on which some bit changes
    failed : tables without an answer; they count as a score of 0
    """
    usual = rows[(rows["constant"] == DEFAULTS) & (rows["status"] == "ok")]
    score = usual.groupby("panel")["score"].mean()
    varied = rows[rows["constant"] != DEFAULTS]
    failed = varied["status"] != "ok"
    lost = -varied["panel"].map(score).fillna(1.0)
    table = pd.DataFrame(
        {
            "constant": varied["constant"],
            "factor": varied["factor"],
            "score": varied["score_move"].where(~failed, lost),
            "rho": varied["rho_move"],
            "fdr": varied["fdr_move"],
            "read": varied["read"].eq(True) | failed,
            "changed": ~varied["same"].eq(True),
            "failed": failed,
        }
    )
    # Tables on which a constant was not varied have not moved.
    n = rows.groupby(["panel", "seed"]).ngroups
    n_true = rows[rows["rho"].notna()].groupby(["panel", "seed"]).ngroups
    lines = []
    for (name, factor), group in table.groupby(["constant", "factor"], sort=False):
        lines.append(
            {
                "constant": name,
                "factor": factor,
                "score": group["score"].sum() / n,
                "rho": group["rho"].sum() / max(n_true, 1),
                "fdr": group["fdr"].sum() / max(n_true, 1),
                "worst": group["score"].iloc[group["score"].abs().argmax()],
                "read": int(group["read"].sum()),
                "changed": int(group["changed"].sum()),
                "failed": int(group["failed"].sum()),
            }
        )
    lines.sort(key=lambda line: -abs(line["score"]))
    return pd.DataFrame(lines)


def sensitivity_lines(table: pd.DataFrame) -> pd.DataFrame:
    """The constants whose panel score moves most, each at the factor that moves it more; last the
    seed, whose move is noise."""
    once = table.drop_duplicates("constant")
    seed = once["constant"] == CONTROL
    once = pd.concat([once[~seed].head(MOST_SENSITIVE), once[seed]])
    homes = {constant.name: constant for constant in engine_constants()}
    # A constant that was since removed is told by its name alone.
    known = [homes.get(name) for name in once["constant"]]
    return pd.DataFrame(
        {
            "constant": [f"`{name}`" for name in once["constant"]],
            "module": [f"`{c.module.removeprefix('rcweb.')}`" if c else "" for c in known],
            "value": [_short(c) if c else "" for c in known],
            "factor": once["factor"].map("{:g}".format).to_list(),
            "score": once["score"].map("{:+.4f}".format).to_list(),
            "rho": once["rho"].map("{:+.4f}".format).to_list(),
            "FDR": once["fdr"].map("{:+.4f}".format).to_list(),
            "worst table": once["worst"].map("{:+.3f}".format).to_list(),
        }
    )


def _short(constant: EngineConstant) -> str:
    if constant.name == CONTROL:
        return "seed"
    value = constant.value
    return ", ".join(f"{v:.3g}" for v in (value if isinstance(value, tuple) else (value,)))


def count_lines(table: pd.DataFrame) -> pd.DataFrame:
    """How many constants of each kind there are, and how far they move the panel."""
    largest = table.groupby("constant")["score"].agg(lambda moves: moves.abs().max())
    changed = table.groupby("constant")["changed"].max()
    lines = []
    for kind, what in CONSTANT_KINDS.items():
        names = [c.name for c in engine_constants() if c.kind == kind]
        moves = largest.reindex(names).dropna()
        lines.append(
            {
                "kind": what,
                "constants": len(names),
                "varied": len(moves),
                f"move the score by more than {ALLOWED:g}": int((moves > ALLOWED).sum()),
                "change no bit": int((changed.reindex(names) == 0).sum()),
            }
        )
    return pd.DataFrame(lines)


def sensitivity_parts(rows: pd.DataFrame, table: pd.DataFrame) -> list[str]:
    """The page of the plan, in parts; `table` of `constant_table`."""
    columns = ["panel", "seed", "score", "rho", "fdr", "certified", "n_components_found"]
    usual = rows.loc[(rows["constant"] == DEFAULTS) & (rows["status"] == "ok")]
    return [
        "## Tables of the panel, defaults\n",
        to_markdown(usual[[name for name in columns if name in usual]]),
        "## Kinds of constants\n",
        to_markdown(count_lines(table)),
        "## Every constant\n",
        to_markdown(table),
    ]
