"""Public tables to try things on: downloaded or found once, checked, cached."""

from __future__ import annotations

from rcweb.lab.datasets.dataset import Dataset
from rcweb.lab.datasets.ecoli import load_ecoli
from rcweb.lab.datasets.files import DatasetError, cache_folder
from rcweb.lab.datasets.yeast import load_yeast

__all__ = ["Dataset", "DatasetError", "cache_folder", "load_ecoli", "load_yeast"]
