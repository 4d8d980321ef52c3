# `make demo` and `make test` need nothing but Python >= 3.11: each makes .venv when it is not there and installs
# what it needs once.  PYTHON=... chooses the interpreter.

SHELL := bash
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet --no-input
JOBS ?= 2

# The first interpreter that is new enough and whole (a distribution may split venv or sqlite3 off).
SOUND := import ensurepip, sqlite3, sys, venv; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3 python; do \
	"$$p" -c '$(SOUND)' >/dev/null 2>&1 && echo "$$p" && break; done)

.PHONY: help demo test test-long test-live lint types format bench clean

help:
	@echo "make demo       a scenario and the replay of a recorded session; no key, no network after installing"
	@echo "make test       format, lint, types and tests (minutes)"
	@echo "make test-long  the slow tests: many random histories, many kills"
	@echo "make test-live  the tests that call the real model; needs ANTHROPIC_API_KEY"
	@echo "make bench      the benchmarks, as JSON"
	@echo "make format     reformat and mend what can be mended"
	@echo "make clean      remove .venv, builds and caches"

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "no Python >= 3.11 with venv and sqlite3 found; use: make PYTHON=/path/to/python" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/runtime.stamp: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install --constraint constraints.txt --editable .
	@touch $@

$(VENV)/dev.stamp: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install --constraint constraints.txt --editable '.[dev]'
	@touch $(VENV)/runtime.stamp $@

demo: $(VENV)/runtime.stamp
	@$(BIN)/contextmgr scenario prepared-statements
	@$(BIN)/contextmgr replay examples/sessions/small-session.jsonl --pin first --budget 50000 --summarizer extractive

test: lint types
	$(BIN)/python -m pytest -q -n $(JOBS) -m "not slow and not live"

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/dev.stamp
	$(BIN)/mypy

test-long: $(VENV)/dev.stamp
	$(BIN)/python -m pytest -q -n $(JOBS) -m slow --hypothesis-profile=long

test-live: $(VENV)/dev.stamp
	$(BIN)/python -m pytest -q -m live

bench: $(VENV)/dev.stamp
	$(BIN)/python -m benchmarks.core --json
	$(BIN)/python -m benchmarks.costs --json
	$(BIN)/python -m benchmarks.compaction --json

format: $(VENV)/dev.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
