# The same few verbs here and in CI. On a fresh machine each of them first sets up what it needs.
#
#   make run     open the program on the example arm (without a screen: draw the same scene to a PNG)
#   make test    lint, types, import contracts and the quick tests
#   make test-all  the same with all tests, also the slow ones (nightly, before a release)
#   make check   lint, types and import contracts only
#   make format  let ruff format the code
#   make wheel   build what is installed, and its sources, into dist
#   make wheel-tests  run the tests against it, as installed (TESTS="tests/files -k xacro": a part of them)
#   make campaign  mutate files, formulas and window actions at random; report what gives neither a result nor a message
#   make bench   compare speed and precision with other programs, side by side (WRITE=--write: put it into docs)
#   make docs    redraw what is made from the program: function reference, thumbnails, screenshots
#   make matrix  try the wheel in fresh environments: each Python here, newest and lowest versions of libraries
#   make lock    pin the newest versions within the bounds of pyproject.toml (requirements), for each Python
#   make clean   remove what these verbs made

SHELL := /bin/bash
VENV ?= .venv
BIN := $(VENV)/bin
ARM := resources/examples/puma560.kst
PICTURE := build/puma560.png
WORKERS ?= $(shell n=$$(getconf _NPROCESSORS_ONLN); echo $$((n < 4 ? n : 4)))

.PHONY: help run test test-all check lint types contracts tests all-tests always wheel wheel-tests matrix lock campaign \
        format bench docs clean

help:
	@sed -n 's/^#   //p' Makefile

# asks each time whether the environment is still what it was set up as, which takes some milliseconds
$(VENV)/.ready-run: always
	@.ci/setup run "$(VENV)"

$(VENV)/.ready-dev: always
	@.ci/setup dev "$(VENV)"

always:

run: $(VENV)/.ready-run
	@if [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ] || [ "$$(uname)" = Darwin ]; then \
	  $(BIN)/kinetostat "$(ARM)"; \
	else \
	  echo "Drawing $(ARM)" && mkdir -p build && $(BIN)/kinetostat render "$(ARM)" -o "$(PICTURE)" \
	  && echo "There is no screen here, so the scene was drawn to $$PWD/$(PICTURE)"; \
	fi

test: check tests

check: lint types contracts

lint: $(VENV)/.ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.ready-dev
	$(BIN)/mypy

contracts: $(VENV)/.ready-dev
	$(BIN)/lint-imports

tests: $(VENV)/.ready-dev
	$(BIN)/pytest -n $(WORKERS) --dist loadfile

test-all: check all-tests

all-tests: $(VENV)/.ready-dev
	$(BIN)/pytest -n $(WORKERS) --dist loadfile -m ""

wheel: $(VENV)/.ready-dev
	@mkdir -p build dist
	$(BIN)/python -c "from setuptools.build_meta import *; build_sdist('dist'), build_wheel('dist')" >build/wheel.log

wheel-tests: $(VENV)/.ready-dev
	$(BIN)/python -m tests.project.installation -n $(WORKERS) --dist loadfile $(TESTS)

matrix: $(VENV)/.ready-dev
	$(BIN)/python -m tests.project.matrix $(MATRIX)

lock: $(VENV)/.ready-dev
	$(BIN)/python -m requirements.lock

campaign: $(VENV)/.ready-dev
	.ci/with_screen $(BIN)/python -m tests.campaign all $(CAMPAIGN)

format: $(VENV)/.ready-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.ready-dev
	$(BIN)/python -m benchmarks $(WRITE)
	$(BIN)/python -m benchmarks.work_precision $(WRITE)
	$(BIN)/python -m benchmarks.drift $(WRITE)
	$(BIN)/python -m benchmarks.engine $(WRITE)
	$(BIN)/python -m benchmarks.motion $(WRITE)
	$(BIN)/python -m benchmarks.symbolic $(WRITE)
	$(BIN)/python -m benchmarks.loops $(WRITE)
	$(BIN)/python -m benchmarks.modes $(WRITE)
	$(BIN)/python -m benchmarks.control $(WRITE)
	$(BIN)/python -m benchmarks.controllers $(WRITE)
	$(BIN)/python -m benchmarks.c_code $(WRITE)

docs: $(VENV)/.ready-dev
	$(BIN)/python -m docs.make_functions
	$(BIN)/python -m docs.make_fields
	$(BIN)/python -m docs.make_robotica
	$(BIN)/python -m docs.make_linkages
	$(BIN)/python -m viz.pictures.thumbnails
	.ci/with_screen $(BIN)/python -m app.window.screenshots docs/pictures
	.ci/with_screen $(BIN)/python -m docs.make_drawing_film docs/pictures/drawing.gif
	.ci/with_screen $(BIN)/python -m docs.make_modes_film docs/pictures
	$(BIN)/python -m docs.make_small docs/pictures

clean:
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	@if [ -e "$(VENV)/.made-by-setup" ] || [ -e "$(VENV)/.ready-run" ]; then rm -rf "$(VENV)"; fi
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
