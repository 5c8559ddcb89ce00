# `make demo` and `make test` need Python 3.11 or newer, pip and make; they build .venv themselves.
# Another interpreter: make test PYTHON=python3.13     More arguments: make bench ARGS="--only chain"

PYTHON ?= python3
BIN := .venv/bin
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
FUZZERS := $(wildcard $(addprefix tests/fuzz/,saved_models.py files.py calls.py programs.py))
PYTEST := $(ONE_THREAD) $(BIN)/python -m pytest -n auto --dist loadgroup

.PHONY: demo test check fmt lint types layers keras-tests fuzz concurrency worker-failures sweep docs bench bench-page peers clean
.NOTPARALLEL:

demo: .venv/viz.stamp  ## train a classifier by a GradientTape loop
	$(BIN)/python -m gradtape examples/train_digits.py $(ARGS)

test: .venv/dev.stamp  ## all that needs neither Keras nor TensorFlow
	$(PYTEST) --ignore=tests/keras --ignore=tests/parity $(ARGS)

check: lint types layers  ## what CI asks before it tests

fmt: .venv/dev.stamp
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: .venv/dev.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: .venv/dev.stamp
	$(BIN)/mypy

layers: .venv/dev.stamp
	$(BIN)/python -m pytest -q tests/test_layers.py

keras-tests: .venv-wheel/keras.stamp  ## the tests in Keras's wheel, into docs/keras.md (an hour)
	$(ONE_THREAD) .venv-wheel/bin/python tools/keras_tests.py $(ARGS)

fuzz: .venv/dev.stamp  ## attack files, saved models, calls and programs: ARGS="--runs 20000 --seed 1"
	for file in $(FUZZERS); do \
		$(ONE_THREAD) $(BIN)/python -m tests.fuzz.$$(basename $$file .py) $(ARGS) || exit 1; \
	done

concurrency: .venv/dev.stamp  ## threads that share variables, and interrupts: ARGS="--threads 16 --engine xla"
	$(ONE_THREAD) $(BIN)/python -m tests.fuzz.concurrency $(ARGS)

worker-failures: .venv/dev.stamp  ## kill, stop and end workers at 20 points of a run: ARGS="--workers 4"
	$(ONE_THREAD) $(BIN)/python -m tests.tf.distribute.failure_run $(ARGS)

sweep: .venv/dev.stamp  ## every registered rule through every property
	$(PYTEST) tests/sweep $(ARGS)

docs: .venv-docs/docs.stamp  ## the site, into docs/_build/html; warnings are errors
	.venv-docs/bin/python -m sphinx -W --keep-going -q -j auto docs docs/_build/html

bench: .venv/dev.stamp  ## gradtape beside its peers; `make peers` first
	$(BIN)/python benchmarks/run.py $(ARGS)

bench-page: .venv/dev.stamp  ## eager and compiled, one core and all, and docs/benchmarks.md from it
	$(BIN)/python benchmarks/run.py $(ARGS)
	$(BIN)/python benchmarks/run.py --threads all $(ARGS)
	$(BIN)/python benchmarks/run.py --compiled $(ARGS)
	$(BIN)/python benchmarks/run.py --compiled --threads all $(ARGS)
	$(BIN)/python benchmarks/report.py

peers: .venv-tf/peer.stamp .venv-peers/peer.stamp  ## what the benchmark compares with

.venv-tf/peer.stamp: PEERS := tensorflow-cpu==2.21.0
.venv-peers/peer.stamp: PEERS := torch jax autograd
.venv-%/peer.stamp:
	$(PYTHON) -m venv .venv-$*
	.venv-$*/bin/python -m pip install --quiet $(PEERS)
	touch $@

# what Keras's tests import, besides Keras
WHEEL_TESTS := pytest pandas scikit-learn grain Pillow dm-tree pydot onnxruntime requests jax torch
.venv-wheel/keras.stamp: pyproject.toml
	$(PYTHON) -m venv .venv-wheel
	.venv-wheel/bin/python -m pip install --quiet --editable '.[io,keras]' $(WHEEL_TESTS)
	touch $@

.venv-docs/docs.stamp: pyproject.toml
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python -m pip install --quiet --editable '.[docs]'
	touch $@

.venv/%.stamp: pyproject.toml
	$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("gradtape needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Say: make PYTHON=python3.12")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable ".[$*]"
	$(BIN)/python -m compileall -q src
	touch $@

clean:
	rm -rf .venv .venv-* .pytest_cache .ruff_cache .mypy_cache dist
