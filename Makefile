# Everything runs in .venv, which the first command makes. `make help` lists the commands.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed-cli-test-lint

.DEFAULT_GOAL := help
.PHONY: help demo test lint browser bench bench-pursuit clean distclean

help:  ## list the commands
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-22s%s\n", $$1, $$2 }'

demo: $(INSTALLED)  ## outliers against PCA and RobustPCA: tables, pictures and a report in demo-output/
	@$(BIN)/trueaxis demo

test: $(INSTALLED)  ## run the tests
	@$(BIN)/python -m pytest -n 2 --dist worksteal

lint: $(INSTALLED)  ## check style, format, types and which file may import which
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_imports.py

browser:  ## install Chromium (Debian, as root), in which the report is tested
	@command -v chromium > /dev/null || { \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
	    apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core > /dev/null; }

bench: $(INSTALLED)  ## time RobustPCA beside scikit-learn's PCA and the paper's solvers
	@$(BIN)/python benchmarks/speed.py

bench-pursuit: $(INSTALLED)  ## compare PrincipalComponentPursuit with other packages
	@$(BIN)/python -m pip install -qq --disable-pip-version-check pyrpca rpca tensorly
	@$(BIN)/python benchmarks/pursuit.py

clean:  ## remove caches, pictures and build products, but not .venv
	rm -rf build dist demo-output .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean  ## remove .venv and the compiled files too
	rm -rf $(VENV) src/*.egg-info src/trueaxis/*.so

# What decides the contents of .venv; without a change here a command starts at once.
$(INSTALLED): pyproject.toml $(wildcard setup.py src/trueaxis/*.c src/trueaxis/*.h)
	@command -v $(PYTHON) > /dev/null || { \
	    echo "make: $(PYTHON) was not found; pass a Python 3.11 or later: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "make: trueaxis needs Python 3.11 or later, and $(PYTHON) is $$($(PYTHON) -V 2>&1);" \
	    "pass another: make PYTHON=/path/to/python3" >&2; exit 1; }
	@echo "Installing into $(VENV), once ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --editable '.[cli,test,lint]'
	@touch $@
