"""Files: atomic writes, result folders, records, checkpoints, provenance, limits of size and
memory, and the version, which records name.

May import: nothing else of the package.
Exports: nothing here; each module is imported by name.
"""
