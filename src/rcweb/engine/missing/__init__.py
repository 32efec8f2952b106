"""Tables with holes: refuse what cannot be filled, fill the rest, activities of samples with holes.

`NaN` means "not measured". Holes are filled with what a low-rank model expects given everything
that was measured, never with means; how much of each variable was measured goes along, so that
noise and edge probabilities do not take the filled entries for measurements.
"""

from rcweb.engine.missing.check import check_missing, refuse_holes, refuse_infinite
from rcweb.engine.missing.filling import Filled, fill
from rcweb.engine.missing.project import project_missing

__all__ = ["Filled", "check_missing", "fill", "project_missing", "refuse_holes", "refuse_infinite"]
