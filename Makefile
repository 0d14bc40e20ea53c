# Phaseplan. `make run` and `make test` need Python >= 3.11 (with venv), make and git, and nothing else.

PYTHON ?= python3
PORT ?= 8000
BOOTSTRAP = planner/launcher/bootstrap.py
VENV_PYTHON = .venv/bin/python
# A PYTHON that was asked for by name replaces a .venv of another version.
CHOSEN = $(if $(filter command environment,$(firstword $(origin PYTHON))),--this-python)

.PHONY: run test bench bench-quick bench-large validate lint lock setup

run:
	@exec $(PYTHON) $(BOOTSTRAP) run $(CHOSEN) --port "$(PORT)" --stop-with-parent

setup:
	@$(PYTHON) $(BOOTSTRAP) dev $(CHOSEN)

test: setup
	@$(VENV_PYTHON) -m pytest --numprocesses auto --maxprocesses 8 $(ARGS)

bench: setup
	@$(VENV_PYTHON) -m benchmarks $(ARGS)

bench-quick: setup
	@$(VENV_PYTHON) -m benchmarks --quick $(ARGS)

bench-large: setup
	@$(VENV_PYTHON) -m benchmarks --part large $(ARGS)

validate: setup
	@$(VENV_PYTHON) -m simcore validate $(if $(ARGS),$(ARGS),--residuals simcore/residuals.csv)

lint: setup
	$(VENV_PYTHON) -m ruff check .
	$(VENV_PYTHON) -m ruff format --check .
	$(VENV_PYTHON) -m mypy
	.venv/bin/lint-imports

# The locks hold versions and hashes for every platform, and no address.
UV_COMPILE = .venv/bin/uv pip compile --quiet --universal --generate-hashes --python-version 3.11 \
	--no-annotate --no-header --no-emit-index-url --no-emit-find-links $(ARGS)
lock: setup
	@$(VENV_PYTHON) -m pip install --quiet uv
	$(UV_COMPILE) requirements/runtime.in -o requirements/runtime.txt
	$(UV_COMPILE) requirements/dev.in -o requirements/dev.txt
