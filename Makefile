# `make demo` and `make test` work on a machine that has Python 3.11 or newer, git and make.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
# Most tests wait for a process more than they compute.
JOBS ?= $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN) * 2 )))

.PHONY: demo test test-slow local-model check lint types layers format docs docs-parity reference pictures clean

demo: $(VENV)/.core
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/einstein/demo.sh

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup -m "not slow and not site"

test-slow: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup -m slow

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

# The site, in `site/`: open site/index.html, or put the folder anywhere.
docs: $(VENV)/.docs
	$(BIN)/python -m docs.building.prepare
	NO_MKDOCS_2_WARNING=1 PYTHONWARNINGS=ignore $(BIN)/mkdocs build --strict --quiet
	$(BIN)/python -m docs.building.finish
	$(BIN)/python -m pytest -q -p no:xdist -m site tests/docs

# What the English and the Chinese pages do not have in common, with file and line.
docs-parity: $(VENV)/.dev
	$(BIN)/python -m tests.docs.parity

# The pages of docs/en/reference, from the program.
reference: $(VENV)/.dev
	$(BIN)/python docs/reference.py

# The pictures of the program in docs/images, from the program; those of pages need Chromium.
pictures: $(VENV)/.dev
	$(BIN)/python docs/images/make.py

clean:
	rm -rf $(VENV) .demo build dist site

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "proctor needs Python 3.11 or newer; set PYTHON=/path/to/python"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@ $(VENV)/.core

$(VENV)/.docs: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	@touch $@
