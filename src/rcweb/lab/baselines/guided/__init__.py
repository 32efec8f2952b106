"""Rivals that are told lists of known targets and look for the others, one file each.

``score(table, lists, *, n_components, random_state) -> (L, N)``

table : (M, N), centred by variable
lists : L arrays of positions of variables, the targets that are shown
returns : one row per list; the larger, the more likely the variable is a target. Scores of the
    shown targets are comparable with the others only where the file says that they are left out.
"""

from __future__ import annotations
