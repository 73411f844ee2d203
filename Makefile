# `make demo` and `make test` set themselves up: a virtual environment in .venv, nothing outside the repository.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := demo-output
WORKERS ?= 2
HOST := $(VENV)/.host
DEV := $(VENV)/.dev

.PHONY: demo test lint format bench test-wheel test-boards test-evidence test-providers test-ultralytics clean

demo: $(HOST)
	$(BIN)/edgekit package examples/shapes/shapes.onnx -t cpu -o $(DEMO)/shapes-cpu --force
	$(BIN)/edgekit run $(DEMO)/shapes-cpu examples/shapes/scene.jpg --save $(DEMO)

test: $(DEV)
	$(BIN)/pytest -n $(WORKERS) --dist loadfile --cov --cov-report=term:skip-covered $(ARGS)

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(DEV)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# what a frame costs around the model, in ratios of one run
bench: $(DEV)
	$(BIN)/python tests/benchmarks/overhead.py
	$(BIN)/python tests/benchmarks/binding.py
	$(BIN)/python tests/benchmarks/cache.py

# a built wheel in empty environments
test-wheel: $(DEV)
	$(BIN)/pytest -m wheel tests/distribution

# packages made here, on the onnxruntime releases that boards carry
test-boards: $(DEV)
	$(BIN)/pytest -m boards tests/distribution

# option names against the libraries that the providers' makers publish: downloads 460 MB
test-evidence: $(DEV)
	$(BIN)/pytest -m evidence tests/distribution

# what is predicted against what a real plugin provider does, in an environment of its own
test-providers: $(DEV)
	$(BIN)/pytest -m providers tests/distribution

# the same packages in Ultralytics: several gigabytes, so in an environment of its own outside the repository
ULTRALYTICS ?= $(HOME)/.cache/edgekit/ultralytics
test-ultralytics: $(DEV)
	test -x $(ULTRALYTICS)/bin/yolo || { $(PYTHON) -m venv $(ULTRALYTICS) && $(ULTRALYTICS)/bin/pip install --quiet ultralytics onnxruntime onnx; }
	ULTRALYTICS_PYTHON=$(ULTRALYTICS)/bin/python $(BIN)/pytest -m ultralytics tests/distribution

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(HOST): pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet -e ".[host]"
	touch $@

$(DEV): pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet -e ".[dev]"
	touch $@ $(HOST)

clean:
	rm -rf $(VENV) $(DEMO) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage*
