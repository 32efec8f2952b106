"""From a centred table to a network with a probability for every edge, by either method.

May import: nothing else of the package: the engine neither reads nor writes files.
Exports: nothing here; `refined.solve_refined` and `paper.solve.solve_paper` return a `Solution`.
"""
