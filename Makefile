# Everything is made in .venv, in this folder. Needs GNU make 3.81 or later and a POSIX shell.

# The Python that .venv is made with; without it the first of python3, python3.13, … that is new enough.
PYTHON ?=
# How many tests run side by side.
WORKERS ?= 3
# Where tests keep their files: in memory, where 8 GB of it are free, since a disk lets their thousands of spaces wait.
SCRATCH ?= $(shell test -w /dev/shm && df -Pk /dev/shm | awk 'NR == 2 && $$4 > 8000000 { print "/dev/shm" }')
# A folder with the data sets of the benchmarks.
DATA ?=
# How many notes `make bench` measures with.
SIZES ?= 1000 10000 100000
# The benchmarks that `make bench` runs; all of them without it.
ONLY ?=
# Which room of the code `make mutate` plants faults in, and how many of them (all without it), drawn by which chance.
ROOM ?=
SAMPLE ?=
SEED ?= 1

BIN := .venv/bin
STAMP := .venv/.installed
BENCH := .venv-bench

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1
unexport PYTHONHOME PYTHONPATH PIP_USER PIP_TARGET PIP_PREFIX
# Hundreds of processes are started by the tests: each would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE

# A checkout that was moved or copied has an environment that belongs to another place.
STALE := $(shell test -x $(BIN)/python && test "$$(cat $(STAMP) 2>/dev/null)" = "$$(pwd -P)" || echo stale)

.DEFAULT_GOAL := help
.PHONY: help run test check style types tests bench bench-discovery prove mutate clean stale

help:
	@echo 'make run     set everything up (once), and run a plan over sample notes'
	@echo 'make test    check, and run the tests (WORKERS=3)'
	@echo 'make check   formatting, lint, types and import contracts only'
	@echo 'make bench   the benchmarks, beside peers (SIZES="1000 10000", ONLY=discovery, DATA=folder)'
	@echo 'make bench-discovery   how well notes and tools are found, beside others (DATA=folder)'
	@echo 'make prove   the long proofs at full size, the properties of new examples, and gold plans (DATA=folder)'
	@echo 'make mutate   faults planted in a room of the code, and those that no test notices (ROOM=where, ONLY=, SAMPLE=, SEED=1)'
	@echo 'make clean   remove .venv and all caches'
	@echo
	@echo 'PYTHON=/path/to/python3.11 names the Python that .venv is made with.'

run: $(STAMP)
	@$(BIN)/infospace model get
	@$(BIN)/infospace demo

# The types are checked in one process, for most of a minute where nothing is cached: beside the tests.
test: style
	@$(BIN)/infospace model get
	@$(MAKE) --no-print-directory -j 2 types tests

check: style types

style: $(STAMP)
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .

types: $(STAMP)
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

tests: $(STAMP)
	@env -u MAKEFLAGS -u MAKELEVEL PYTEST_DEBUG_TEMPROOT=$(SCRATCH) $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal

bench: $(BENCH)/.installed
	@$(BIN)/infospace model get
	@$(BENCH)/bin/python tests/benchmarks/all.py $(ONLY) --sizes $(SIZES) $(if $(DATA),--data "$(DATA)")

bench-discovery: $(BENCH)/.installed
	@$(BIN)/infospace model get
	@$(BIN)/python tests/benchmarks/quality.py $(if $(DATA),--data "$(DATA)",--help)
	@$(BIN)/python tests/benchmarks/ablations.py $(if $(DATA),--data "$(DATA)" --late,--help)
	@$(BIN)/python tests/benchmarks/titles.py $(if $(DATA),--data "$(DATA)/cranfield",--help)
	@$(BENCH)/bin/python tests/benchmarks/finding.py $(if $(DATA),--data "$(DATA)",--help)

prove: $(STAMP)
	@$(BIN)/infospace model get
	@INFOSPACE_PROVE=1 $(BIN)/python -m pytest --timeout=0 -s tests/proofs tests/infospace/memory/test_stores_alike.py tests/infospace/query/test_means_what_verbs_mean.py tests/planner/check/test_check_is_sound.py tests/planner/order/test_parallel_is_serial.py tests/planner/lifecycle/test_resume_anywhere.py tests/planner/goals/test_noisy_planners.py tests/tui/screen/test_any_keys.py
	@INFOSPACE_PROVE=1 $(BIN)/python -m pytest --timeout=0 -q -n $(WORKERS) -m hypothesis
	@$(if $(DATA),$(BIN)/python tests/benchmarks/gold_plans.py --data "$(DATA)")

mutate: $(STAMP)
	@$(BIN)/infospace model get
	@TMPDIR=$(SCRATCH) PYTHONPATH=tests $(BIN)/python -m mutation $(ROOM) $(if $(ONLY),--only '$(ONLY)') $(if $(SAMPLE),--sample $(SAMPLE)) --seed $(SEED) --workers $(WORKERS)

clean:
	rm -rf .venv .mutants $(BENCH) .cache .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .coverage dist build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	rm -rf ./*.egg-info

# .venv/.unfinished stands from before the first file of .venv is made until the last package is installed,
# so whatever is interrupted in between is made anew.
define INSTALL
set -eu

stop() {
    printf '\n%s\n' "$$1" >&2
    shift
    for line; do printf '    %s\n' "$$line" >&2; done
    exit 1
}

new_enough() { "$$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

python=
for one in "$${PYTHON:-python3}" python3.13 python3.12 python3.11; do
    if new_enough "$$one"; then python=$$one; break; fi
    test -z "$$PYTHON" || break
done
if test -z "$$python"; then
    has=$$("$${PYTHON:-python3}" --version 2>/dev/null) || has="not a Python that runs"
    stop "infospace needs Python 3.11 or later; $${PYTHON:-python3} is $$has." \
        'Debian, Ubuntu:  apt-get install python3 python3-venv python3-dev' \
        'Fedora:          dnf install python3 python3-devel' \
        'macOS:           brew install python@3.13' \
        'or name one:     make PYTHON=/path/to/python3.11'
fi
version=$$("$$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')

"$$python" -c 'import ensurepip, venv' >/dev/null 2>&1 ||
    stop "$$python (Python $$version) cannot make virtual environments." \
        "Debian, Ubuntu:  apt-get install python$$version-venv (or python3-venv)"

compiler=$${CXX:-$$("$$python" -c 'import sysconfig; print(sysconfig.get_config_var("CXX") or "c++")')}
printf '#include <vector>\nint main() { return 0; }\n' |
    $$compiler -fsyntax-only -x c++ - >/dev/null 2>&1 ||
    stop "infospace needs a C++ compiler for its vector index, and '$$compiler' does not compile." \
        'Debian, Ubuntu:  apt-get install g++' \
        'Fedora:          dnf install gcc-c++' \
        'macOS:           xcode-select --install' \
        'or name one:     make CXX=/path/to/compiler'

"$$python" -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' ||
    stop "The C headers of $$python (Python $$version) are missing." \
        "Debian, Ubuntu:  apt-get install python$$version-dev (or python3-dev)" \
        'Fedora:          dnf install python3-devel'

here=$$(pwd -P)
if test -e .venv/.unfinished || ! new_enough .venv/bin/python || ! .venv/bin/python -m pip --version >/dev/null 2>&1 ||
    { test -e .venv/.installed && test "$$(cat .venv/.installed)" != "$$here"; }; then
    rm -rf .venv
fi
mkdir -p .venv
: > .venv/.unfinished
rm -f .venv/.installed
if ! test -x .venv/bin/python; then
    echo "making .venv with $$python (Python $$version) …"
    "$$python" -m venv .venv
fi
echo 'installing the packages (some minutes, once) …'
# Most files of the packages are never imported, and the others are compiled once they are: pip would compile all on one core.
failed="The packages could not be installed; what pip says stands above. The same command tries again."
.venv/bin/python -m pip install --quiet --upgrade 'pip>=25.1' || stop "$$failed"
.venv/bin/python -m pip install --quiet --no-compile -c constraints.txt -e '.[all]' --group dev || stop "$$failed"
rm .venv/.unfinished
printf '%s\n' "$$here" > .venv/.installed
endef

$(STAMP): export SCRIPT = $(INSTALL)
$(STAMP): export PYTHON := $(PYTHON)
$(STAMP): pyproject.toml constraints.txt $(STALE)
	@sh -c "$$SCRIPT"

# The peers of the benchmarks stay out of .venv, which $(BENCH) sees: they would slow the start of every command.
# Where one cannot be installed the tables say so.
$(BENCH)/.installed: $(STAMP) pyproject.toml constraints.txt
	@rm -rf $(BENCH)
	@$(BIN)/python -m venv --without-pip $(BENCH)
	@$(BIN)/python -c 'import sysconfig; print("import site; site.addsitedir(%r)" % sysconfig.get_path("purelib"))' \
	    > "$$($(BENCH)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/infospace.pth"
	@echo 'installing the peers of the benchmarks …'
	@$(BIN)/python -m pip --python $(BENCH)/bin/python install --quiet -c constraints.txt --group bench && \
	    touch $@ || echo 'the peers could not be installed; what pip says stands above'
