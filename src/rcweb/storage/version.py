"""The one place where the version is written; the build reads it here (pyproject.toml)."""

__version__ = "1.0.0"
