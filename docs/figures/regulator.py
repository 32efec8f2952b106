"""docs/images/regulator.png: one regulator of E. coli, its activity and its targets.

python docs/figures/regulator.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from rcweb import RCweb
from rcweb.datasets import load_ecoli
from rcweb.knowledge import name_regulators, named_activities

IMAGES = Path(__file__).parents[1] / "images"
NAME = "soxS"
BLUE, ORANGE, GREY = "#2a6fbb", "#d9731a", "#b5b5b5"
GROUPS = {
    "paraquat, wild type": "oxidative__wt_pq",
    "paraquat, $\\Delta$soxS": "oxidative__delsoxs_pq",
    "paraquat, $\\Delta$soxR": "oxidative__delsoxr_pq",
    "paraquat, $\\Delta$oxyR": "oxidative__deloxyr_pq",
}


def main() -> None:
    """Fit, name, draw."""
    data = load_ecoli()
    X = data.expression
    model = RCweb(92, random_state=0).fit(X)
    names = name_regulators(model, data.known)
    model.set_names(names["name"], data.genes["symbol"])
    activity = named_activities(model.transform(X), names, X.index)[NAME]
    edges = model.network_.edges()
    edges = edges[edges["regulator_name"] == NAME].head(18)
    known = set(data.known.members[data.known.names.index(NAME)])

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), width_ratios=(1.15, 1))
    order = np.argsort(activity.to_numpy())
    left.plot(activity.to_numpy()[order], ".", color=GREY, ms=5)
    place = {name: i for i, name in enumerate(activity.index[order])}
    condition = X.index.str.rsplit("__", n=1).str[0]
    for number, (label, group) in enumerate(GROUPS.items()):
        chosen = activity[condition == group]
        colour = plt.get_cmap("Dark2")(number)
        left.plot([place[s] for s in chosen.index], chosen, "o", color=colour, ms=7, label=label)
    left.legend(frameon=False, loc="upper left")
    left.set(xlabel="278 samples, in order of activity", ylabel=f"activity of {NAME}")
    colours = [BLUE if target in known else ORANGE for target in edges["target"]]
    rows = np.arange(len(edges))[::-1]
    right.barh(rows, edges["weight"], color=colours, height=0.7)
    right.set_yticks(rows, edges["target_name"], style="italic")
    right.set(xlabel="weight (log2 per unit of activity)", xlim=(-0.6, 1.5))
    right.barh([0], [0], color=BLUE, label="known target (RegulonDB)")
    right.barh([0], [0], color=ORANGE, label="not listed")
    right.legend(frameon=False, loc="lower right", fontsize=9, handlelength=1)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(IMAGES / "regulator.png", dpi=110)


if __name__ == "__main__":
    main()
