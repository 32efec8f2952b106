"""What the scoreboard costs: seconds of CPU, from the clocks of the stored rows."""

from __future__ import annotations

import pandas as pd

from rcweb.lab.benchmark.measured import PLANTED, ReadRows
from rcweb.lab.benchmark.plans import TIMED

# The plans behind the columns of the scoreboard and its targets. "foreign" and "real" run one fit
# at a time, since seconds are a result, and beside each other; the others two at a time.
BOARD: dict[str, tuple[str, ...]] = {
    "planted": PLANTED,
    "lists": ("prior",),
    "foreign": ("foreign", "random"),
    "real": ("organisms",),
}
# Rows that agree in all of these come from one fit: a real table and several collections.
ONE_FIT = ("table", "asked", "part", "method", "seed")


def fit_seconds(rows: pd.DataFrame) -> pd.Series:
    """Seconds of CPU of every fit, once; of one that did not end, its limit.

    Rows without CPU time have seconds by the clock, which are no fewer.
    """
    names = [name for name in ("cpu_seconds", "seconds", "cpu_limit") if name in rows]
    seconds = rows[names].bfill(axis=1).iloc[:, 0].fillna(0.0) if names else pd.Series(dtype=float)
    if set(ONE_FIT) <= set(rows):
        seconds = seconds[~rows.duplicated(list(ONE_FIT))]
    return seconds.astype(float)


def cost_lines(read: ReadRows, plans: tuple[str, ...]) -> pd.DataFrame:
    """Fits and minutes of every plan that was run, and what two fits at a time take."""
    table = pd.DataFrame([_line(plan, read, (plan,)) for plan in plans if len(read(plan))])
    if table.empty:
        return table
    total = {"plan": "all", **table.drop(columns="plan").sum()}
    return _rounded(pd.concat([table, pd.DataFrame([total])], ignore_index=True))


def board_lines(read: ReadRows) -> pd.DataFrame:
    """The same by group of columns, with the command that measures it; in all, on two cores."""
    lines = []
    for group, plans in BOARD.items():
        line = _line(group, read, tuple(plan for plan in plans if len(read(plan))))
        command = f"`python -m rcweb.lab.benchmark.scoreboard --run {group}`"
        lines.append({"columns": line.pop("plan"), "command": command, **line})
    table = pd.DataFrame(lines)
    sums = table[["fits", "not done", "minutes"]].sum()
    total = {"columns": "all", "command": "", **sums, "with two jobs": 60 * board_hours(read)}
    table = pd.concat([table, pd.DataFrame([total])], ignore_index=True)
    return _rounded(table.rename(columns={"with two jobs": "on two cores"}))


def method_costs(read: ReadRows, plans: tuple[str, ...]) -> pd.DataFrame:
    """Each method of `plans`: fits, those without a result, seeds, and CPU seconds of a fit."""
    lines = []
    for plan in plans:
        rows = read(plan)
        if rows.empty:
            continue
        rows = rows.assign(cost=fit_seconds(rows)).dropna(subset="cost")
        for (method, asked), part in rows.groupby(["method", "asked"], sort=False):
            done = part[part["status"] == "ok"]["cost"]
            lines.append(
                {
                    "plan": plan,
                    "method": f"{method}, P unknown" if asked == "auto" else str(method),
                    "seeds": part["seed"].nunique(),
                    "fits": len(part),
                    "not done": len(part) - len(done),
                    "median CPU s": f"{done.median():.3g}" if len(done) else "",
                    "greatest": f"{done.max():.3g}" if len(done) else "",
                    "minutes": part["cost"].sum() / 60,
                }
            )
    lines.sort(key=lambda line: (plans.index(str(line["plan"])), str(line["method"])))
    return _rounded(pd.DataFrame(lines))


def board_hours(read: ReadRows) -> float:
    """Hours of the whole scoreboard on two cores."""
    hours = {
        group: sum(float(fit_seconds(read(plan)).sum()) for plan in plans) / 3600
        for group, plans in BOARD.items()
    }
    return (hours["planted"] + hours["lists"]) / 2 + max(hours["foreign"], hours["real"])


def _line(name: str, read: ReadRows, plans: tuple[str, ...]) -> dict[str, object]:
    seconds = [fit_seconds(read(plan)) for plan in plans]
    minutes = sum(float(part.sum()) for part in seconds) / 60
    return {
        "plan": name,
        "fits": sum(map(len, seconds)),
        "not done": sum(int((read(plan)["status"] != "ok").sum()) for plan in plans),
        "minutes": minutes,
        "with two jobs": minutes if set(plans) & set(TIMED) else minutes / 2,
    }


def _rounded(table: pd.DataFrame) -> pd.DataFrame:
    for name in table.columns.intersection(["minutes", "with two jobs", "on two cores"]):
        table[name] = table[name].map("{:.1f}".format)
    counts = table.columns.intersection(["fits", "not done"])
    return table.astype(dict.fromkeys(counts, int))
