"""How far a regulator was confirmed, in one word."""

from __future__ import annotations

import numpy as np
import pandas as pd

#: Grades of a regulator, best first: two halves of the variables lead to it (where it is
#: asked, halves of the samples too); any start leads to it; neither.
# The engine says how they are decided: `engine.search.found.Found`.
GRADES = ("certified", "found", "unconfirmed")


def grades_of(diagnosis: pd.DataFrame | None) -> tuple[str, ...]:
    """The grade of every row of a diagnosis, from its columns "certified" and "found".

    diagnosis : of a fitted model, ``model.diagnosis_``

    () where the method gives no grades.

    Examples
    --------
    >>> import pandas as pd
    >>> from rcweb.network import grades_of
    >>> grades_of(pd.DataFrame({"certified": [True, False], "found": [True, False]}))
    ('certified', 'unconfirmed')
    """
    if diagnosis is None or not {"certified", "found"} <= set(diagnosis.columns):
        return ()
    certified = diagnosis["certified"].to_numpy(dtype=bool)
    found = diagnosis["found"].to_numpy(dtype=bool)
    return tuple(map(str, np.select([certified, found], GRADES[:2], GRADES[2])))
