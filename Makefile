# Two commands set up all they need on a machine with Python 3.11-3.13 and make:
#   make demo    de-identify the examples and show what became of them
#   make test    lint, types, architecture, tests
# make docs builds the docs site into build/site; open build/site/index.html.
PYTHON ?= python3
EXTRAS ?= dev
VENV   := .venv
BIN    := $(VENV)/bin
comma  := ,
BASE   := $(VENV)/.installed
STAMP  := $(VENV)/.installed-$(subst $(comma),-,$(EXTRAS))
JOBS   ?= 2
INSTALL = $(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e

LANGUAGES := $(addprefix -e ,$(sort $(wildcard languages/*)))

.PHONY: install demo test lint docs bench soak lock sbom clean
.DELETE_ON_ERROR:

$(BASE): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(not ((3, 11) <= sys.version_info[:2] < (3, 14)))' \
	  || { echo "incognote needs Python 3.11 to 3.13: make PYTHON=python3.12 ..."; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing incognote into $(VENV) ..."
	@$(INSTALL) '.[documents]' $(LANGUAGES)
	@touch $@

$(STAMP): $(BASE)
	@echo "installing incognote[$(EXTRAS)] into $(VENV) ..."
	@$(INSTALL) '.[$(EXTRAS)]' $(LANGUAGES) -e training -e benchmarks
	@touch $@

install: $(STAMP)

demo: $(BASE)
	@sh examples/demo.sh $(BIN)/incognote

lint: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

docs: $(STAMP)
	@$(BIN)/python scripts/build_docs.py

test: lint
	@$(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal

bench: $(STAMP)
	@$(BIN)/python -m incognote_benchmarks.detection

soak: $(STAMP)
	@INCOGNOTE_SOAK=full INCOGNOTE_SOAK_JSON=docs/measured/soak.json $(BIN)/python -m pytest -q tests/soak
	@$(BIN)/python -m incognote_benchmarks.spark tests/data/notes.jsonl --memory-notes 100000 --out docs/measured/spark.json
	@$(BIN)/python -m incognote_benchmarks.spark.page docs

lock: # what the image is installed from, with hashes; needs uv
	@sh scripts/lock.sh

sbom: # of an installation made from the lock, as the image's is; in build/sbom.json
	@rm -rf build/sbom && $(PYTHON) -m venv build/sbom/tools && $(PYTHON) -m venv build/sbom/made
	@build/sbom/tools/bin/python -m pip install -q --disable-pip-version-check --require-hashes --only-binary :all: -r docker/build.lock
	@build/sbom/made/bin/python -m pip install -q --disable-pip-version-check --require-hashes --only-binary :all: -r docker/requirements.lock
	@build/sbom/tools/bin/python -m pip wheel -q --no-index --no-deps --no-build-isolation --wheel-dir build/sbom/dist . $(addprefix ./,$(sort $(wildcard languages/*)))
	@build/sbom/made/bin/python -m pip install -q --no-index --no-deps build/sbom/dist/*.whl
	@build/sbom/tools/bin/python docker/sbom.py docker/requirements.lock build/sbom/made/lib/python3.*/site-packages build/sbom.json
	@rm -rf build/sbom && echo "build/sbom.json"

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis demo-out
