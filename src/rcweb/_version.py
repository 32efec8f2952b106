"""The one place where the version is written."""

__version__ = "0.2.0.dev0"
