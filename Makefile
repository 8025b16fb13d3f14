# Each target makes the virtual environment it needs; override PYTHON and VENV to choose.
PYTHON ?= $(shell for v in 3.14 3.13 3.12 3.11; do python$$v -c '' 2>/dev/null && echo python$$v && exit; done; echo python3)
VENV ?= .venv
BIN = $(VENV)/bin
TESTS ?=
# Of the slow tests every run of all tests takes one in so many, another share for each
# commit; 1 takes all of them.
TURNS ?= 30
PYREV_ROTATION ?= $(shell printf %d 0x$$(git rev-parse --short=7 HEAD 2>/dev/null || echo 0))
export PYREV_ROTATION
PYTEST = PYREV_TURNS=$(if $(TESTS),1,$(TURNS)) $(BIN)/python -m pytest -n 2 --dist loadfile $(TESTS)

.PHONY: help deblur test check docs golden bench nightly sanitize release tag

help:  ## list the targets
	@grep -E '^[a-z]+:.*##' $(firstword $(MAKEFILE_LIST)) | sed -E 's/:.*## /\t/' | expand -t 10

deblur: $(VENV)/.examples  ## run the main job: blind deblurring of a photograph, figure in deblur.png
	OPENBLAS_NUM_THREADS=1 $(BIN)/python examples/deblur.py  # its vectors are short

test: $(VENV)/.test  ## run the tests; TURNS=1 runs all of the slow ones, too
	$(PYTEST)

check: $(VENV)/.test  ## what CI runs: lint, types, tests
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(PYTEST)

docs: $(VENV)/.docs  ## build the documentation site, build/site/index.html, and try it
	$(BIN)/python -m sphinx --fail-on-warning --nitpicky --keep-going --quiet docs build/site
	$(BIN)/python -m tests.tools.site build/site

golden: $(VENV)/.test  ## rewrite the golden files; `git diff` is the review
	$(BIN)/python -m pytest --update-golden

bench: $(VENV)/.bench  ## time pyrev against the peers that are installed
	$(BIN)/python benchmarks/run.py

nightly: $(VENV)/.test $(VENV)/.coverage  ## everything that hunts for bugs, for hours
	$(BIN)/python -m tests.tools.nightly

release: $(VENV)/.release  ## wheel and sdist in dist/, checked, each tried in an empty environment
	$(BIN)/python packaging/release.py build

tag:  ## the annotated git tag of this version, as docs/releasing.md says
	$(PYTHON) packaging/release.py tag

$(VENV)/.%: setup.cfg pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable ".[$*]"
	touch $@

sanitize: $(VENV)/.test  ## the corpora on a GPU under compute-sanitizer, memory and races
	$(BIN)/python -m pip install --quiet --editable ".[cuda]"
	for tool in memcheck racecheck; do \
	    compute-sanitizer --tool $$tool --error-exitcode 1 \
	        $(BIN)/python -m pytest -m gpu -q tests/targets/cuda/test_on_gpu.py || exit 1; \
	done
