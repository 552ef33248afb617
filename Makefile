# Two commands matter: 'make demo' and 'make test'. Both need only Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready

.PHONY: setup demo test lint docs bench clean

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("pair2vec needs Python 3.11 or newer") if sys.version_info < (3, 11) else 0'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev,docs,train,plot,hub,serve,ray]'
	touch $(READY)

demo: $(READY)
	@echo '$$ pair2vec demo --out demo/world'
	@$(BIN)/pair2vec demo --out demo/world
	@echo
	@echo '$$ pair2vec prepare examples/world.xml examples/opposites.txt --out demo/corpus --vocab 100'
	@$(BIN)/pair2vec prepare examples/world.xml examples/opposites.txt --out demo/corpus --vocab 100 --overwrite
	@echo
	@echo '$$ pair2vec info demo/corpus --sentences 12'
	@$(BIN)/pair2vec info demo/corpus --sentences 12

test: $(READY)
	$(BIN)/python -m pytest -n auto

lint: $(READY)
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/ruff format --check src tests benchmarks examples
	$(BIN)/mypy

docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

bench: $(READY)
	$(BIN)/python benchmarks/prepare.py

clean:
	rm -rf $(VENV) demo build dist site
