"""The input check of a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rcweb.tables.check import InputCheck, check_look
from rcweb.tables.finding import Finding, some
from rcweb.tables.look import Look
from rcweb.tables.objects import names_text, shape_text

if TYPE_CHECKING:
    from rcweb.tables.orientation import Orientation


def check_file(
    look: Look,
    file: str,
    *,
    way: Orientation,
    notes: Sequence[str] = (),
    set_aside: Sequence[str] = (),
    logged: bool = False,
) -> InputCheck:
    """The check of a table read from `file`: orientation, layout, skipped columns, logs."""
    facts = [
        ("table", shape_text(look, file)),
        *(("layout", note) for note in notes),
        ("orientation", str(way)),
        ("names", names_text(look)),
    ]
    if set_aside:
        shown = some([repr(title) for title in set_aside])
        facts.append(("set aside", f"columns of text: {shown}"))
    if logged:
        facts.append(("logs", "log2(x + 1) was taken of every value"))
    return check_look(look, facts, doubtful(look, way))


def doubtful(look: Look, way: Orientation) -> list[Finding]:
    """A warning if the orientation is the default and there are more samples than variables."""
    M, N = look.n_samples, look.values.shape[1]
    if way.sure or M <= N:
        return []
    return [
        Finding(
            "warning",
            f"Nothing says whether rows are samples or variables; they were taken as samples, of "
            f"which there are then more ({M:,}) than variables ({N:,}). If the rows are variables, "
            "such as genes, say --transpose; if they are samples, --no-transpose.",
        )
    ]
