# Two commands matter: 'make demo' and 'make test'. Both need only Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
# Those that read files of the repository, and some of every package.
SDIST_TESTS ?= tests/docs tests/query tests/model tests/server/test_container.py tests/experiments/report \
	tests/cli/test_query.py tests/cli/test_nli.py tests/test_house.py tests/test_install.py tests/test_bundled_model.py

.PHONY: setup demo test test-lowest test-sdist lint docs bench clean

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

# One process more than cores: some tests wait for others to end, or to fail.
test: $(READY)
	$(BIN)/python -m pytest -n $$(( $$(nproc) + 1 )) --dist worksteal

# The lowest versions of the core and of each extra, in environments of their own under build/.
test-lowest:
	$(PYTHON) tests/lowest.py

# What is published: the files of the sdist are all that these tests have.
test-sdist: $(READY)
	rm -rf build/sdist && $(PYTHON) -m venv build/sdist/venv
	build/sdist/venv/bin/python -m pip install --quiet 'hatchling>=1.24'
	build/sdist/venv/bin/python -m hatchling build -t sdist -d build/sdist
	tar -xzf build/sdist/pair2vec-*.tar.gz -C build/sdist --one-top-level=tree --strip-components=1
	cd build/sdist/tree && PYTHONPATH=$(CURDIR)/build/sdist/tree/src:$(CURDIR)/build/sdist/tree \
		$(CURDIR)/$(BIN)/python -m pytest -q -n auto $(SDIST_TESTS)

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
