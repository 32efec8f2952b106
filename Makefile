# Every target makes the environment it needs; nothing has to be installed by hand but Python >= 3.11.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# One process per core, the tests of a file in one of them, which share its fixtures.
PARALLEL := -n logical --maxprocesses 8 --dist loadfile

.PHONY: demo test test-all test-browser test-docs lint docs dist bench clean

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $(STAMP)

demo: $(STAMP)
	$(BIN)/rcweb demo

test: $(STAMP)
	$(BIN)/python -m pytest $(PARALLEL)

test-all: $(STAMP)
	$(BIN)/python -m pytest -m "" $(PARALLEL)

test-browser: $(STAMP)
	$(BIN)/python -m pytest -m browser

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/vulture

# Every code block of the pages and the README.
test-docs: $(STAMP)
	$(BIN)/python -m pytest $(PARALLEL) README.md docs

# Runs the tutorials too, and keeps what they gave until they change.
docs: $(STAMP)
	$(BIN)/python -m sphinx --fresh-env --fail-on-warning --keep-going --quiet docs docs/_build/html
	@echo "Look at docs/_build/html/index.html"

# Build, check, and try the wheel in fresh environments.
dist: $(STAMP)
	$(BIN)/nox -s dist

bench: $(STAMP)
	$(BIN)/rcweb bench fig1 --quick

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis docs/_build dist .nox
