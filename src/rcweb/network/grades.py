"""How far a regulator was confirmed, in one word."""

from __future__ import annotations

import numpy as np
import pandas as pd

# Best first. The engine says how they are decided: `engine.search.search.Found`.
GRADES = ("certified", "found", "unconfirmed")


def grades_of(diagnosis: pd.DataFrame | None) -> tuple[str, ...]:
    """The grade of every row of a diagnosis, from its columns "certified" and "found".

    () where the method gives no grades.

    >>> grades_of(pd.DataFrame({"certified": [True, False], "found": [True, False]}))
    ('certified', 'unconfirmed')
    """
    if diagnosis is None or not {"certified", "found"} <= set(diagnosis.columns):
        return ()
    certified = diagnosis["certified"].to_numpy(dtype=bool)
    found = diagnosis["found"].to_numpy(dtype=bool)
    return tuple(map(str, np.select([certified, found], GRADES[:2], GRADES[2])))
