"""How many names of another file are in the table: gene sets, names, sample sheets, factors."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice

from rcweb.tables.finding import Finding

_VERSION = re.compile(r"\.\d+$")  # ENSG00000141510.17


@dataclass(frozen=True)
class Match:
    """How many names a file shares with the table, as `text`, and the problems as `findings`."""

    file: str
    text: str
    findings: tuple[Finding, ...] = ()


def match(
    file: str,
    names: Collection[str],
    table: Sequence[str],
    *,
    what: str,
    side: str,
    way_out: str,
    more: str = "",
) -> Match:
    """Compare the `names` in a file with those of the `table`.

    what : kind of the names ("members of sets"); side : of the table ("variables")
    way_out : advice when few names match; more : text appended to the count
    """
    known, inside = set(names), set(table)
    shared = len(known & inside)
    text = f"{shared:,} of {len(known):,} {what} are {side} of the table{more}"
    # Of the smaller side: gene sets usually cover more, or fewer, genes than a table.
    if not known or 2 * shared > min(len(known), len(inside)):
        return Match(file, text)
    examples = (
        f"{_examples(known, inside)} in the file, {_examples(inside, known)} in the table"
        f"{near(known, inside)}"
    )
    if not shared:
        text = f"none of the {len(known):,} {what} is among the {side} of the table"
        said = f"{file}: {text} ({examples}). {way_out}"
        return Match(file, text, (Finding("error", said),))
    said = f"{file}: only {text} ({examples}). {way_out}"
    return Match(file, text, (Finding("warning", said),))


def _examples(names: set[str], others: set[str]) -> str:
    return " ".join([*(repr(name) for name in islice(sorted(names - others), 2)), "..."])


def near(known: Collection[str], inside: Collection[str]) -> str:
    """A simple reason why names differ, if it makes most of them equal."""
    for reason, plain in (
        ("upper and lower case", str.casefold),
        ("a version after a dot", lambda name: _VERSION.sub("", name)),
        ("spaces around them", str.strip),
    ):
        left, right = set(map(plain, known)), set(map(plain, inside))
        if 2 * len(left & right) > min(len(left), len(right)):
            return f"; they differ by {reason}"
    return ""
