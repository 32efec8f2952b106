"""Missing values: refuse what cannot be filled, fill the rest, project incomplete samples.

`NaN` means "not measured". Missing entries are filled with their expectation under a low-rank model
given everything that was measured, never with means. The share of each variable that was measured
is kept, so that noise and edge probabilities do not count filled entries as measurements. Values at
a limit of detection are filled with what is expected beyond it.
"""

from rcweb.engine.missing.check import check_missing, refuse_holes, refuse_infinite
from rcweb.engine.missing.filling import Filled, fill
from rcweb.engine.missing.project import project_missing

__all__ = ["Filled", "check_missing", "fill", "project_missing", "refuse_holes", "refuse_infinite"]
