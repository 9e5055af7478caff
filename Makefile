# `make demo` and `make test` work on a machine that has Python 3.11 or newer, git and make.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= auto

.PHONY: demo test test-slow local-model check lint types layers format clean

demo: $(VENV)/.core
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/einstein/demo.sh

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(JOBS) -m "not slow"

test-slow: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(JOBS) -m slow

# A small language model for the tests that are marked local_llm: about 180 MB, below .venv.
local-model: $(VENV)/.dev
	$(BIN)/python tests/judging/local_model.py --install

check: test lint types layers

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/pyright

layers: $(VENV)/.dev
	$(BIN)/lint-imports

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .demo dist

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "proctor needs Python 3.11 or newer; set PYTHON=/path/to/python"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@ $(VENV)/.core
