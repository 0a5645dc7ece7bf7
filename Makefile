# Every target makes its own .venv and installs what it needs; python3 (3.11 or newer) is enough.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test test-engines test-slurm test-browser lint pages format bench chaos clean

demo: $(READY)  ## a real race on this machine, told as it goes
	$(BIN)/paceline demo

test: $(READY) lint  ## linters, types, import contracts, then every test and doctest
	$(BIN)/pytest -n auto --dist worksteal

test-engines: $(READY)  ## all tests of the engines, on real clusters that they start on this machine
	$(BIN)/pytest -m 'engines or not engines and not slurm' tests/engines

test-slurm: $(READY)  ## installs Slurm (root), starts it on this machine, runs its tests, stops it
	$(BIN)/python tools/slurm_cluster.py run $(BIN)/pytest -m slurm tests/engines/slurm || test $$? = 77

test-browser: $(READY)  ## installs Chromium (root) and Playwright, runs the tests of pages in it
	$(BIN)/python tools/browser.py $(BIN)/pytest -m browser tests/browser || test $$? = 77

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

pages: $(READY)  ## docs/cli.md and docs/options.md, from the commands and options themselves
	PYTHONPATH=. $(BIN)/python tools/write_cli_page.py
	PYTHONPATH=. $(BIN)/python tools/write_options_page.py

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# `make bench pools tolerance` measures these two; the words after bench are no targets of their own.
ifeq (bench,$(firstword $(MAKECMDGOALS)))
WHICH := $(wordlist 2,99,$(MAKECMDGOALS))
$(WHICH): bench ; @:
endif
bench: $(READY)  ## the measured figures; see benchmarks/README.md
	$(BIN)/python -m benchmarks $(WHICH)

MINUTES ?= 20
chaos: $(READY)  ## attack races with kills, damage, hostile pulls and load: make chaos MINUTES=20
	$(BIN)/python -m tests.chaos $(MINUTES)

$(READY): pyproject.toml tools/make_venv.py
	$(PYTHON) tools/make_venv.py .venv
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

clean:
	rm -rf .venv
