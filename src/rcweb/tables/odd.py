"""Samples and variables unlike the others, such as a column of genome positions."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from rcweb.tables.finding import Finding, count, some
from rcweb.tables.look import Look

# Below tenfold a difference in scale is no difference in kind; conventional.
LOG_TENFOLD = np.log(10)
FEWEST_NUMBERS = 5  # samples or variables from which on there are "the others"
_ANNOTATION = re.compile(
    r"(gene|cds|transcript|feature|chr(om(osome)?)?|genomic)?[\W_]*"
    r"(start|end|stop|begin|length|len|width|pos(ition)?|coord(inate)?|tss|strand|chrom"
    r"|chromosome|gc[\W_]content|entrez([\W_]?id)?|tax[\W_]?id)([\W_]?bp)?",
    re.IGNORECASE,
)


def odd_samples(look: Look) -> tuple[NDArray[np.intp], list[Finding]]:
    """Samples unlike the others: far larger values, whole numbers beside fractions, or the title
    of a gene annotation. Returns their rows in the look, and the findings."""
    titled = np.array([_is_annotation(look, i) for i in range(len(look.rows))])
    size = _size(look.values)
    reasons = {
        "the title of an annotation": titled,
        "values far larger than those of the others": far_above(size),
        "whole numbers where the others have fractions": whole_alone(look.values),
    }
    found = np.flatnonzero(np.any(list(reasons.values()), axis=0))
    if not len(found):
        return found, []
    names = [look.sample(int(i)) for i in found]
    held = [reason for reason, mask in reasons.items() if mask[found].any()]
    return found, [
        Finding(
            "warning",
            f"{count(len(found), 'sample')} unlike the others: {some(names)} "
            f"({'; '.join(held)}). If it is an annotation, such as a position or a length, or a "
            f"measurement that failed, {look.leave_out('samples', found)}.",
        )
    ]


def odd_variables(look: Look) -> list[Finding]:
    """Variables whose spread over the samples is far beyond that of all others."""
    found = np.flatnonzero(tenfold_above(_spread(look.values)))
    if not len(found):
        return []
    names = [look.variable(int(j)) for j in found]
    return [
        Finding(
            "warning",
            f"{count(len(found), 'variable')} with a spread more than tenfold that of all others: "
            f"{some(names)}. The fit would follow {'it' if len(found) == 1 else 'them'}; "
            f"{look.leave_out('variables', found)}, or bring all variables to one scale, "
            "from Python X / X.std(axis=0).",
        )
    ]


def tenfold_above(scale: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which of the positive numbers `scale` (n,), a tenth of them at most or one, are more than
    tenfold all others.

    Where most variables have no regulator, the scales of the others cover a wide range. `far_above`
    then misses a variable beyond them, but the fit would still follow it, since it has more than a
    hundred times the variance of any other.
    """
    apart = np.zeros(len(scale), dtype=bool)
    n = int((scale > 0).sum())
    if n < FEWEST_NUMBERS:
        return apart
    # A larger group is no oddity but a second kind of variables.
    order = np.argsort(-scale, kind="stable")[: max(n // 10, 1) + 1]
    wide = np.flatnonzero(np.diff(-np.log(scale[order])) > LOG_TENFOLD)
    if len(wide):
        apart[order[: wide[-1] + 1]] = True
    return apart


def far_above(scale: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which of the positive numbers `scale` (n,) are separated from all others by a wide gap.

    On a log scale: a minority beyond a gap that is wider than the range of the majority, taken as
    twice its upper half, so that a few small ones do not widen it (and at least as twice the second
    quarter, since next to the median there is no upper half yet). With the exponential tails
    that scales of real samples have, such a gap comes by chance once in n^2 tables.
    """
    apart = np.zeros(len(scale), dtype=bool)
    known = np.flatnonzero(scale > 0)
    if len(known) < FEWEST_NUMBERS:
        return apart
    order = known[np.argsort(scale[known], kind="stable")]
    logs = np.log(scale[order])
    middle = len(logs) // 2
    upper = logs[middle:]
    least = max(logs[middle] - logs[len(logs) // 4], LOG_TENFOLD / 2)
    wide = np.diff(upper) > 2 * np.maximum(upper[:-1] - upper[0], least)
    if wide.any():
        apart[order[middle + 1 + int(wide.argmax()) :]] = True
    return apart


def whole_alone(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Rows of whole numbers (more than two distinct) in a table whose other rows hold fractions."""
    n = len(values)
    if n < FEWEST_NUMBERS:
        return np.zeros(n, dtype=bool)
    seen = np.isfinite(values)
    whole = (np.floor(values) == values) & seen
    all_whole = whole.sum(axis=1) == seen.sum(axis=1)
    rest = ~all_whole
    if 2 * rest.sum() <= n or 2 * whole[rest].sum() > seen[rest].sum():
        return np.zeros(n, dtype=bool)
    # Rows of 0 and 1 may be real measurements that are detected or not.
    several = [i for i in np.flatnonzero(all_whole) if len(np.unique(values[i][seen[i]])) > 2]
    found = np.zeros(n, dtype=bool)
    found[several] = True
    return found


def _is_annotation(look: Look, i: int) -> bool:
    return look.samples is not None and bool(
        _ANNOTATION.fullmatch(str(look.samples[int(look.rows[i])]).strip())
    )


def _size(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean size of the values of each row, in units of the variables: their median size over the
    rows, so that no variable decides alone; their mean where most are zero."""
    # Missing values count as 0, so that they make no row large.
    size = np.nan_to_num(np.abs(values))
    middle, mean = np.median(size, axis=0), (size / len(size)).sum(axis=0)
    unit = np.where(middle > 0, middle, mean)
    known = unit > 0
    with np.errstate(over="ignore"):
        return np.asarray((size[:, known] / unit[known]).sum(axis=1))


def _spread(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Half the range of each column over the rows that measured it; 0 where none did."""
    seen = np.isfinite(values)
    # Halved before subtracting: the range of extreme values would overflow.
    high = np.where(seen, values, -np.inf).max(axis=0) / 2
    low = np.where(seen, values, np.inf).min(axis=0) / 2
    return np.where(seen.any(axis=0), high - low, 0.0)
