"""What "little", "clearly" and "beyond chance" mean, wherever the engine says so.

Thresholds with one meaning have one number; a rule has one of its own only where tables need it.
Ranges are those in which the panel of the plan `sensitivity` keeps its score, rule by rule.
"""

from __future__ import annotations

# Share of a whole, or relative difference, that is little. Conventional. Measured: few certified
# columns 0.1-0.4; change of mean field 0.03-0.14; 1 - cosine of a row with halves of the samples
# 0.08-0.13; columns that recur in halves of the variables differ by up to 0.05 between splits.
LITTLE = 0.1
# Correlation with the true row above which a row is right. A definition: it is what "certified"
# promises, and what benchmarks count.
RIGHT = 0.9
# Share that is a good part of the whole. Conventional. Measured: 0.125-0.5 for a direction in one
# entry.
GOOD_PART = 0.25
# Power half way between two extremes: a scale taken off wholly (1) or not at all (0). Conventional.
# Measured on real tables: variables divided by this power of their noise give more distinct
# regulators than raw or white ones; scores times this power of the regulator's share in a variable
# meet 1.19 times as many known regulators as FastICA with 500 edges, with 0.25 to 1 1.15 to 1.18,
# with 0 1.06, and cost 0.01 of average precision on planted small effects, with 1 0.02.
HALF_WAY = 0.5
# Factor by which a number clearly exceeds another, or what noise can make. Conventional. Measured:
# outliers in a sample vary 1.0 times as much as a Poisson number if they occur one by one, at least
# 15 times if together; a P twice too large is corrected (docs/benchmark.md, P unknown).
CLEARLY = 1.5
# Standard errors within which a difference may be chance, though many are looked at. Measured for
# the second moment of noise: -1.6 to 4.1 on 80 small tables of independent noise, 5.0 to 9.3 on
# time series.
STANDARD_ERRORS = 4.5
# Least number of points that say anything: two lie on a line whatever the truth. Derived. With
# fewer (effective) variables and samples a row is a handful of outliers; measured: 3-12 variables.
FEWEST = 3
# Least number of values that tell a scatter: its relative error is 1 / sqrt(2 n), 0.2 with 12.
# Measured: 10-40 samples for the scatter of a variable, 6-24 directions searched.
ENOUGH_TO_TELL = 12
MEDIAN_SQUARE = 0.4549  # median of the square of a standard Gaussian
