"""The input check: facts, findings, and matches with other files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rcweb.tables.finding import Finding
from rcweb.tables.limits import values_at_limits
from rcweb.tables.look import Look
from rcweb.tables.match import Match
from rcweb.tables.odd import odd_samples, odd_variables
from rcweb.tables.same import constants, copies
from rcweb.tables.values import describe, fixed_sum, kind_of, not_logged


class InputWarning(UserWarning):
    """A table looks suspicious; the message says why and which option answers it.

    Where the table is right as it is:
    ``warnings.simplefilter("ignore", rcweb.tables.InputWarning)``.
    """


@dataclass(frozen=True)
class InputCheck:
    """How an input was read and what looks suspicious, ``model.input_``; ``print`` shows it.

    facts : (what, text) pairs: shape, orientation, names, kind of values, missing values
    findings : on the table itself
    matches : how much of each other file is in the table

    Examples
    --------
    >>> from rcweb import RCweb
    >>> from rcweb.simulate import simulate
    >>> print(RCweb(3).fit(simulate(60, 40, 3, random_state=0).data).input_)
    Input:
      table    ndarray: 60 samples x 40 variables
      names    samples have none; variables have none
      values   from ... to ..., of both signs: ratios, logs or centred
      missing  none
    """

    facts: tuple[tuple[str, str], ...] = ()
    findings: tuple[Finding, ...] = ()
    matches: tuple[Match, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Texts of the notes."""
        return self._texts("note")

    @property
    def warnings(self) -> tuple[str, ...]:
        """Texts of the warnings; each names the option that answers it."""
        return self._texts("warning")

    @property
    def errors(self) -> tuple[str, ...]:
        """Texts of the errors; each names the way out."""
        return self._texts("error")

    @property
    def rows(self) -> tuple[tuple[str, str], ...]:
        """(what, text) pairs of the facts and the matches."""
        return (*self.facts, *((one.file, one.text) for one in self.matches))

    def __str__(self) -> str:
        width = max((len(what) for what, _ in self.rows), default=0)
        lines = [f"  {what:<{width}}  {text}" for what, text in self.rows]
        lines += [f"  note: {text}" for text in self.notes]
        lines += [f"  warning: {text}" for text in self.warnings]
        return "\n".join(["Input:", *lines])

    def _texts(self, level: str) -> tuple[str, ...]:
        found = [*self.findings, *(finding for one in self.matches for finding in one.findings)]
        return tuple(finding.text for finding in found if finding.level == level)

    def to_plain(self) -> dict[str, Any]:
        """Strings, lists and dictionaries only, for JSON."""
        return asdict(self)

    @classmethod
    def from_plain(cls, plain: Any) -> InputCheck:
        """The inverse of `to_plain`; raises ValueError for anything else."""
        try:
            facts = tuple((_text(what), _text(text)) for what, text in plain["facts"])
            matches = tuple(
                Match(_text(one["file"]), _text(one["text"]), _findings(one["findings"]))
                for one in plain["matches"]
            )
            return cls(facts, _findings(plain["findings"]), matches)
        # The file may come from anyone; no other form is accepted.
        except (KeyError, TypeError, ValueError):
            raise ValueError("the input check has an unknown form") from None


def check_look(
    look: Look, facts: Sequence[tuple[str, str]] = (), findings: Sequence[Finding] = ()
) -> InputCheck:
    """Run all checks; the `facts` and `findings` known already come first."""
    # First, since all later checks look at the others only.
    odd, about_odd = odd_samples(look)
    others = look.without(odd)  # a column of genome positions would hide the kind of the others
    kind = kind_of(others)
    # On the same samples: one odd sample has another sum than all others.
    sums, about_sums = fixed_sum(others)
    values = [("values", describe(kind)), ("missing", missing_text(look))]
    found = [
        *findings,
        *about_odd,
        *odd_variables(others),
        *not_logged(kind),
        *values_at_limits(others),
        *about_sums,
        *constants(others),
        *copies(others),
    ]
    return InputCheck((*facts, *values, *([("sums", sums)] if sums else [])), tuple(found))


def missing_text(look: Look) -> str:
    """How many values are missing."""
    missing = int(np.isnan(look.values).sum())
    where = "" if look.complete else f" in the {len(look.rows):,} samples looked at"
    if not missing:
        return f"none{where}"
    return f"{missing:,} values ({missing / look.values.size:.2%}){where}"


def _findings(plain: Any) -> tuple[Finding, ...]:
    return tuple(Finding(_level(one["level"]), _text(one["text"])) for one in plain)


def _level(word: Any) -> Any:
    if word not in ("note", "warning", "error"):
        raise ValueError
    return word


def _text(word: Any) -> str:
    if not isinstance(word, str):
        raise TypeError
    return word
