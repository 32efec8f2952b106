"""How many directions of a table carry signal, and a basis of them after rescaling the variables.

Used by the refined method. Singular pairs come from a `CondensedTable`, whose Gram matrix is exact
enough for data with noise; the published method, which must resolve zeros to rounding, uses
``rcweb.engine.basis``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from rcweb.engine.basis import noise_edge
from rcweb.engine.condensed import ROUNDING, CondensedTable, Leading, entry_noise
from rcweb.engine.conventions import CLEARLY, HALF_WAY, LITTLE, STANDARD_ERRORS
from rcweb.engine.missing.correct import effective_power
from rcweb.engine.types import Array, Noise

# Directions searched per regulator asked for, where the spectrum has that many: spare ones absorb
# what is not sparse. Measured where zeros are exact: with 2, curves of regulators and noise that
# grows with the signal are mixed in (accuracy with raw counts 0.75 instead of 0.96).
SPARE = 1.4
# The same where small effects are everywhere, and regulators of few targets show only beside many
# others. Measured on six real tables: known regulators over FastICA's with 500 edges 0.96 to 1.7
# instead of 0.86 to 1.8, with 1,000 edges 0.98 to 1.4 instead of 0.90 to 1.4.
ROOM = 2
# At most this share of the rank is taken as signal. Measured (plan `sensitivity`): 0.4 to 0.85 give
# the same score to 0.0008.
SIGNAL_LIMIT = 0.7
ABOVE_ROUNDING = 2 * ROUNDING
# Directions beyond the signal: with fewer, nothing can be said about noise. Measured (plan
# `sensitivity`): 4 to 16 give the same results; with 12 nothing is certified in 30 samples of 20
# regulators.
FEW_LEFT = 8


@dataclass(frozen=True)
class Spectrum:
    """Leading directions of the table after rescaling its variables.

    table : the rescaled one
    s : (K,) singular values, descending
    V : (N, K) right singular vectors of the rescaled table
    factor : (N,) what each variable was multiplied by
    sigma : standard deviation of the noise in an entry of the rescaled table
    n_signal : number of singular values of the table above the edge of noise; where a number of
        regulators was given, of the few that were computed for it
    P : number of regulators to look for, at most K
    step : directions before a step of the singular values that ends the signal, where noise is not
        independent (see `number`); 0 if there is none or it was not looked for
    """

    table: CondensedTable
    s: Array
    V: Array
    factor: Array
    sigma: float
    n_signal: int
    P: int
    step: int = 0

    @cached_property
    def white(self) -> bool:
        """Whether the residual looks like independent noise: its squared singular values then have
        the second moment of the Marchenko-Pastur law. Noise that samples share, as in time series
        or batches, has a larger one (ratio 0.995-1.014 on planted tables, 1.03 for time series)."""
        return _is_white(self.table, self.s, self.V)

    @cached_property
    def n_above_noise(self) -> int:
        """Directions above noise once all variables are equally noisy, however many were asked for:
        unequal noise alone makes directions of its own. Those before a step that ends the signal,
        where there is one."""
        return self.step or _count_whitened(self.table)

    @property
    def shows_edge(self) -> bool:
        """Whether directions above noise come to an end, as those of few regulators do."""
        return self.n_above_noise < signal_limit(self.table.M, self.table.N)

    @property
    def independent(self) -> bool:
        """Whether noise is independent as far as this can be seen: the count of directions above it
        came to an end before its limit, and what is left is white. If not, the count means nothing:
        directions of noise are among those above the edge of independent noise."""
        return not self.no_edge and self.white

    @property
    def ends(self) -> bool:
        """Whether it is known how many directions carry signal."""
        return self.step > 0 or self.independent

    @property
    def n_left(self) -> int:
        """Directions beyond those searched."""
        return min(self.table.M - 1, self.table.N) - len(self.s)

    @property
    def noise_kind(self) -> Noise:
        """What is known of noise: "unknown" where no direction is left that would tell, "shared" by
        samples or variables where it is seen not to be independent."""
        if self.n_left < 1:
            return "unknown"
        return "independent" if self.n_left < FEW_LEFT or self.white else "shared"

    @property
    def no_edge(self) -> bool:
        """Whether the count of directions ran into its limit: no edge of noise can be seen."""
        return self.n_signal >= signal_limit(self.table.M, self.table.N)


def _is_white(table: CondensedTable, s: Array, V: Array) -> bool:
    """Second moment of the squared singular values beyond the directions V, once all variables are
    equally noisy, against its expectation; the standard error of their ratio is 1 / sqrt(M N)."""
    n, M = len(s), table.M - 1
    few, many = min(M, table.N) - n, max(M, table.N) - n
    if table.rest.any():
        return True  # only the power of the rest is known, so this cannot be tested
    if few < FEW_LEFT:
        return False
    found = Leading(s, V, table.M, table.N, table.total)
    whole = table.scaled(_factors(table, found, n, power=1.0))
    # Full whitening: unequal noise alone would also raise the second moment.
    squares = whole.squares()[::-1][n : n + few]
    ratio = (squares**2).mean() / squares.mean() ** 2 / (1 + few / many)
    return bool(ratio < 1 + STANDARD_ERRORS / np.sqrt(M * table.N))


def signal_limit(M: int, N: int) -> int:
    """Most directions of an M x N table that are counted as signal. All but one where what is left
    beyond the usual share would say nothing about noise: nothing is graded then, and nothing need
    be left out."""
    rank = min(M - 1, N)
    limit = int(SIGNAL_LIMIT * rank)
    return max(1, limit if rank - limit >= FEW_LEFT else rank - 1)


def leading_directions(table: CondensedTable, n_components: int | str) -> Spectrum:
    """Basis for `n_components` regulators, or for as many as the spectrum supports ("auto")."""
    M, N = table.M, table.N
    rank = min(M - 1, N)
    if isinstance(n_components, str):
        n_signal = _count_whitened(table)
        P = K = int(np.clip(n_signal, 1, max(1, min(rank, N - 1))))
        raw = table.leading(K)
    else:
        P = n_components
        most = int(max(P, min(SPARE * P, 0.8 * rank)))
        raw = table.leading(min(most + 1, len(table.gram)))
        n_signal = _count_signal(raw.values, raw.total, M, N)
        if _superfluous(raw.values, n_signal, P, signal_limit(M, N)):
            P = n_signal
        whitening = _factors(table, raw, P, power=1.0)
        white = raw if whitening is None else table.scaled(whitening).leading(len(raw.values))
        # Counted on the whitened table: on the raw one unequal noise makes directions of its own,
        # which displaced true regulators (accuracy 0.90 instead of 0.996).
        K = int(np.clip(_above_edge(white, P), P, most))
    return _basis(table, raw, K, n_signal, P)


def first_directions(
    table: CondensedTable, K: int, n_signal: int, P: int, step: int = 0
) -> Spectrum:
    """Basis of the first `K` directions, for `P` regulators."""
    return replace(_basis(table, table.leading(K), K, n_signal, P), step=step)


def last_step(table: CondensedTable) -> tuple[int, float]:
    """Directions before the last clear step of the singular values, and the factor by which these
    fall; 0 and 1 if there is none among those that may carry signal and are more than rounding."""
    most = signal_limit(table.M, table.N)
    values = np.sqrt(np.maximum(table.squares()[::-1][: most + 1], 0.0))
    higher, lower = values[:-1], values[1:]
    steps = np.flatnonzero((higher > CLEARLY * lower) & (lower > ABOVE_ROUNDING * values[0]))
    if not len(steps):
        return 0, 1.0
    last = int(steps[-1])
    return last + 1, float(higher[last] / lower[last])


def with_room(table: CondensedTable, spectrum: Spectrum) -> Spectrum:
    """`ROOM` directions for each regulator asked for, as far as they stand above noise."""
    n_signal = spectrum.n_above_noise
    K = min(ROOM * spectrum.P, n_signal)
    if len(spectrum.s) < K:
        return first_directions(table, K, n_signal, spectrum.P)
    return replace(spectrum, n_signal=n_signal)


def _basis(table: CondensedTable, raw: Leading, K: int, n_signal: int, P: int) -> Spectrum:
    """The first K directions once each variable is divided by a power of its noise."""
    factor = _factors(table, raw, K, HALF_WAY)
    scaled = table.scaled(factor)
    final = raw if factor is None else scaled.leading(K)
    return Spectrum(
        table=scaled,
        s=np.maximum(final.values[:K], ROUNDING * final.values[0]),
        V=np.ascontiguousarray(final.V[:, :K]),
        factor=np.ones(table.N) if factor is None else factor,
        sigma=_noise(scaled, final, K),
        n_signal=n_signal,
        P=P,
    )


def _noise(table: CondensedTable, leading: Leading, n: int) -> float:
    """Noise of an entry beyond the first n directions, as if every variable had been measured in
    all samples."""
    if (table.observed == 1).all():
        return leading.noise(n)
    rest = effective_power(np.maximum(_left(table.power, leading, n), 0.0), table.observed)
    return entry_noise(float(rest.sum()), n, table.M, table.N)


def _left(power: Array, leading: Leading, n: int) -> Array:
    """What the first n directions leave of the `power` of each variable, (N,)."""
    return np.asarray(power - ((leading.V[:, :n] * leading.values[:n]) ** 2).sum(axis=1))


def _above_edge(white: Leading, P: int) -> int:
    """Directions above noise when the first P are signal: is there room for more than P?"""
    edge = white.noise(P) * (np.sqrt(white.M) + np.sqrt(white.N))
    return int((white.values > max(edge, ABOVE_ROUNDING * white.values[0])).sum())


def _superfluous(values: Array, n_signal: int, P: int, limit: int) -> bool:
    """Whether P is more than the table supports: singular values fall steeply at the edge of noise,
    or they fall visibly and P is about twice their number, up to a little. Else the user's P is
    respected, as where the count ran into its `limit` before an edge showed. Measured: without the
    second rule figure 1 with 100 planted and 200 asked for gives 200; at 1.5 times their number it
    would cut tables with fewer samples than regulators."""
    if not 0 < n_signal < min(P, len(values)):
        return False
    if n_signal == limit and values[n_signal] > ABOVE_ROUNDING * values[0]:
        return False
    step = values[n_signal - 1] / max(values[n_signal], ROUNDING * values[0])
    return bool(step > CLEARLY or (step > 1 + LITTLE and 2 * n_signal < (1 + LITTLE) * P))


def _count_signal(values: Array, total: float, M: int, N: int) -> int:
    """Singular values that stand above noise, tested one after the other (Kritchman, Nadler 2008).

    The n-th is compared with the edge of the noise that is left once n are taken away: noise
    estimated with signal in it would be too large, and weak directions would be missed. If none
    falls below the edge, the count ends at `signal_limit`.
    """
    most = min(signal_limit(M, N), len(values))
    rest = total
    for n in range(1, most + 1):
        rest -= values[n - 1] ** 2
        edge = noise_edge(entry_noise(rest, n, M, N), max(M - n, 1), max(N - n + 1, 1))
        if values[n - 1] <= max(edge, ABOVE_ROUNDING * values[0]):
            return n - 1
    return most


def _count_whitened(table: CondensedTable) -> int:
    """Signal directions once all variables are equally noisy: the smallest self-consistent count.

    With n directions taken as signal, what they leave tells the noise of each variable, and the
    table divided by it has some number of directions above noise. Below the true number that count
    exceeds n, since signal is left; from it on it does not. A count that starts too high confirms
    itself: the noisiest variables make directions of their own. So n grows fourfold until the count
    no longer exceeds it, or up to `signal_limit`, and bisection finds the smallest such n.

    Where signal is left beyond all but one of the directions that may be counted, no edge of noise
    shows, and the count is its limit; so it is on most real tables, and this is asked first.
    """
    raw = _count_all(table)
    if raw < 1:
        return raw
    most = signal_limit(table.M, table.N)
    leading = table.leading(min(most, len(table.gram)))
    if _factors(table, leading, raw, power=1.0) is None:
        return raw

    def whitened(n: int) -> int:
        return _count_all(table.scaled(_factors(table, leading, n, power=1.0)))

    if most > 1 and whitened(most - 1) >= most:
        return most
    low, high = 0, 1
    while high < most and whitened(high) > high:
        low, high = high, min(4 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if whitened(middle) <= middle else (middle, high)
    return min(whitened(high), high)


def _count_all(table: CondensedTable) -> int:
    values = np.sqrt(np.maximum(table.squares()[::-1], 0.0))
    return _count_signal(values, table.total, table.M, table.N)


def _factors(table: CondensedTable, leading: Leading, n: int, power: float) -> Array | None:
    """Noise of each variable beyond the first n directions, to the minus `power`; None where all
    variables are equally noisy as far as the number of samples can tell."""
    M = table.M
    if n < 1 or M - 1 - n < 3:
        return None
    total = table.power
    rest = _left(total, leading, n)
    if rest.sum() < 1e-10 * total.sum():
        return None
    # The directions took a share of the noise as well, more where a variable weighs more in them;
    # what is left of a variable that is little says nothing of its noise.
    rest = rest / np.maximum(1 - (leading.V[:, :n] ** 2).sum(axis=1), LITTLE)
    rest = effective_power(np.maximum(rest, 0.0), table.observed)
    rest = np.maximum(rest, 1e-6 * np.median(rest))
    # sqrt(2 / freedom) is the sd of the log of a chi-squared: twice that may be chance.
    if np.log(rest).std() < 2 * np.sqrt(2 / (M - 1 - n)):
        return None
    noise = np.sqrt(rest / np.median(rest))
    return np.asarray(np.maximum(noise, 1e-3) ** -power)
