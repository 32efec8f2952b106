"""The paper's applications, start to end: ``python -m rcweb.applications yeast OUT``."""
