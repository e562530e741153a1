# Each target sets up .venv by itself; PYTHON chooses the interpreter that creates it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# Idle threads sleep: on a machine that runs something else, waiting threads would take the cores from working ones.
test: export OMP_WAIT_POLICY ?= PASSIVE

# Files of benchmarks.run; of several the last counts, so the committed file can be named first to add to it.
performance: RECORDS ?= docs/records/performance.jsonl

.PHONY: demo test lint check bench performance docs format clean

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt torch==2.13.0
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

demo: $(STAMP)
	$(BIN)/tvgnn demo --out demo --overwrite

# Two processes, as on the machine of CI: more would take more memory than small machines have.
test: $(STAMP)
	$(BIN)/python -m pytest -n logical --maxprocesses 2

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint test

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(STAMP)
	$(BIN)/python -m benchmarks.run --suite short

performance: $(STAMP)
	$(BIN)/python -m benchmarks.report $(RECORDS)

docs: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[docs]'
	$(BIN)/python -m sphinx -b html -W --keep-going -n -d build/doctrees docs site
	$(BIN)/python -m pytest tests/docs src

clean:
	rm -rf $(VENV) demo site build docs/gallery .pytest_cache .mypy_cache .ruff_cache .hypothesis
