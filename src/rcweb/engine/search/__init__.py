"""Sparse columns of ``V B`` (paper, section 3)."""
