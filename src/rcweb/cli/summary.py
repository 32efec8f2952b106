"""The summary of a run, as JSON and as text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rcweb.cli.knowledge import Annotations
from rcweb.cli.results import Result


def summarise(
    out: Path, result: Result, annotations: Annotations, seconds: float
) -> dict[str, Any]:
    """The machine-readable summary of a run."""
    network = result.model.network_
    P, N = network.shape
    summary: dict[str, Any] = {
        "out": str(out),
        "n_samples": len(result.activities),
        "n_variables": N,
        "n_regulators": P,
        "n_edges": network.n_edges,
        "n_targets": int((network.weights != 0).any(axis=0).sum()),
        "explained_variance": result.variance("explained"),
        "reason": result.model.reason_,
        "warnings": [*result.model.input_.warnings, *result.model.warnings_],
        "named": {},
        "seconds": round(seconds, 2),
        "report": str(out / "report.html"),
    }
    if result.model.guided:
        prior = result.model.prior_
        summary["prior"] = {
            "lists": len(prior),
            "supported": int(prior["supported"].sum()),
            "new_targets": int(prior["new"].sum()),
            "grouped": bool(result.model.prior_grouped_),
        }
    if annotations.names is not None:
        named = annotations.names[annotations.names["name"] != ""]
        # Absent when names come from measurements alone.
        if "log10_p" in named.columns:
            named = named.sort_values("log10_p", kind="stable")
        summary["named"] = {str(k): str(v) for k, v in named["name"].items()}
    return summary


def summary_text(summary: dict[str, Any]) -> str:
    """The same in words."""
    from rcweb.tables.finding import count

    lines = [
        f"{count(summary['n_regulators'], 'regulator')}, {count(summary['n_edges'], 'edge')} to "
        f"{summary['n_targets']:,} of {count(summary['n_variables'], 'variable')}, "
        f"from {count(summary['n_samples'], 'sample')}"
        + _explained(summary["explained_variance"])
        + ".",
        summary["reason"],
    ]
    if summary["named"]:
        names = list(summary["named"].values())
        more = f" and {len(names) - 10} more" if len(names) > 10 else ""
        lines.append(f"{len(names)} named: {', '.join(names[:10])}{more}.")
    if "prior" in summary:
        prior = summary["prior"]
        # Genes of one operon vary together whatever regulates them.
        seen = "are supported" if prior["grouped"] else "have members that vary together"
        hint = "" if prior["grouped"] else " Are some in one operon? Then give --groups."
        lines.append(
            f"{prior['supported']} of {prior['lists']} known lists {seen} in these data, "
            f"with {prior['new_targets']:,} new targets (new_targets.tsv).{hint}"
        )
    lines.append(f"Look at {summary['report']}")
    return "\n".join(line for line in lines if line)


def _explained(share: float | None) -> str:
    if share is None:
        return ""
    if share < 0:
        return "; it explains less of the variance than the means alone"
    return f"; {100 * share:.0f} % of the variance explained"
