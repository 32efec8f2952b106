"""Files: atomic writes, result folders, checkpoints, provenance, limits."""
