"""The paper's applications, start to end: ``python -m rcweb.lab.applications yeast OUT``."""
