"""Sparse columns of ``V B`` by oblique search (paper, section 3, and beyond).

May import: the engine's earlier stages, not `posterior` or `paper`.
Exports: nothing here; `search.search_columns` returns what was `Found`.
"""
