"""The published method: one column by removing rows, the others from inflated matrices.

May import: the engine's basis, solution and types, nothing of the refined method.
Exports: nothing here; `solve.solve_paper` is the whole, `column` the paper's list of steps.
"""
