# Needs Python 3.11 or later, and nothing else: the packages include a Java runtime.
# Everything is installed into .venv, once, and again when pyproject.toml changes.

BIN  := .venv/bin
DONE := .venv/.installed
RUNS := .venv/.runs
DEMO ?= examples/sliding_day.sql
JOBS ?= 2

AT_LEAST_3_11 := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for each in python3 python3.13 python3.12 python3.11 python; do \
	"$$each" -c '$(AT_LEAST_3_11)' 2>/dev/null && echo "$$each" && break; done)

.DEFAULT_GOAL := help

comma := ,
needs_python = test -n "$(PYTHON)" || { echo "no Python 3.11 or later found; make PYTHON=/path/to/python3" >&2; exit 1; }
# into .venv: what is printed, and the extra of pyproject.toml; an sdist has no links
define install
	@for each in rules grammar; do test -e tvfsql/$$each || ln -s ../$$each tvfsql/$$each; done
	@$(needs_python)
	@"$(PYTHON)" -c '$(AT_LEAST_3_11)' || { echo "$(PYTHON) is not Python 3.11 or later" >&2; exit 1; }
	@test -x $(BIN)/pip || "$(PYTHON)" -m venv --clear .venv
	@echo "installing $(1) ..."
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[$(2)]'
endef
.PHONY: help demo test soak soak-kills test-cluster test-connect test-dbt test-spark41 test-spark42 interrupts check golden bench bench-growth bench-flink differential fuzz hostile lint screens site

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' Makefile

demo: $(RUNS)  ## run an example: plans, code, rows (DEMO=FILE for another one)
	@echo "== tvfsql explain $(DEMO)"; $(BIN)/tvfsql explain $(DEMO)
	@echo; echo "== tvfsql compile $(DEMO)"; $(BIN)/tvfsql compile $(DEMO)
	@echo; echo "== tvfsql run $(DEMO)"; $(BIN)/tvfsql run $(DEMO)

test: lint  ## everything: linters, types, layers and all tests, in JOBS=2 processes with a Spark each
	$(BIN)/pytest -n $(JOBS) --dist worksteal --durations 25

soak: $(DONE)  ## the tests that `make test` has a short version of, at length: more random examples, cuts and kills
	TVFSQL_SOAK=1 $(BIN)/pytest -n $(JOBS) --dist worksteal --durations 25 -m soak

soak-kills: $(DONE)  ## kill streams over ROWS=10000000 rows KILLS=100 times, over files and Kafka: hours
	$(BIN)/python -m tests.support.soak --rows $(or $(ROWS),10000000) --kills $(or $(KILLS),100)
	$(BIN)/python -m tests.support.soak --rows $(or $(ROWS),10000000) --kills $(or $(KILLS),100) --kafka

interrupts: $(DONE)  ## press Ctrl-C N=60 times at random moments in queries and streams of one shell
	$(BIN)/python -m tests.support.interrupts $(or $(N),60)

test-cluster: $(DONE)  ## the tests on a standalone Spark cluster on this machine
	$(BIN)/pytest -n 0 --durations 5 -m cluster

test-connect: $(DONE)  ## every golden stream, in both modes, over a real Spark Connect server: a quarter of an hour
	TVFSQL_SOAK=1 $(BIN)/pytest -n 0 --durations 5 tests/cluster/test_connect.py

test-spark41: .venv-spark41/.installed  ## the tests of Delta and Iceberg, with Spark 4.1 in .venv-spark41
	.venv-spark41/bin/pytest -n 0 --durations 5 tests/end_to_end/test_lakehouse.py

test-spark42: .venv-spark42/.installed  ## the tests of Delta, with Spark 4.2 in .venv-spark42
	.venv-spark42/bin/pytest -n 0 --durations 5 tests/end_to_end/test_lakehouse.py

test-dbt: .venv-dbt/.installed  ## the adapter of dbt and dbt's own suite for adapters, with dbt in .venv-dbt
	cd integrations/dbt && ../../.venv-dbt/bin/pytest tests

check: lint  ## linters, types, layers and the fast tests: no Java
	TVFSQL_EXAMPLES_ONE_IN=5 $(BIN)/pytest -n $(JOBS) -m "not spark and not slow"

golden: $(DONE)  ## rewrite the golden plans, docs/rules.md and docs/pictures; read the diff before you commit it
	$(BIN)/python -m tests.support.rules_page
	$(BIN)/python -m tests.support.functions_page
	$(BIN)/python -m tests.support.aggregates_page
	$(BIN)/python docs/pictures
	$(BIN)/pytest -m "not spark and not slow" --snapshot-update

bench: $(DONE)  ## compare with Spark's window(), DuckDB and Flink: over an hour (ONLY=batch: some minutes; EVENTS=1000000 of Nexmark)
	$(BIN)/python -m tests.bench $(if $(ONLY),--only $(ONLY)) $(if $(EVENTS),--events $(EVENTS)) $(if $(SECONDS),--seconds $(SECONDS))

bench-growth: $(DONE)  ## how time and memory grow, as pictures in docs/dev/growth: ten minutes (SMALL=1: no pictures)
	$(BIN)/python -m tests.bench --only growth $(if $(SMALL),--small)

bench-flink: .venv-flink/.installed  ## install Flink for `make bench`, in .venv-flink (1 GB)

differential: $(DONE) .venv-flink/.installed  ## ask Flink and tvfsql for the rows of N=100 random scripts from SEED=1 on, in both modes
	$(BIN)/python -m tests.support.differential $(or $(SEED),1) $(or $(N),100)

fuzz: $(DONE)  ## try N=100000 mutants of SQL texts: each is refused or makes a program, changes no file of others, and loses no word
	$(BIN)/python -m tests.support.fuzz $(or $(N),100000)
	$(BIN)/python -m tests.support.lost_words $(or $(N),100000)

hostile: $(DONE)  ## try N=20000 hostile names and texts, and as many messages of each format: none is lost, none stops a stream
	$(BIN)/python -m tests.support.hostile $(or $(N),20000)
	$(BIN)/python -m tests.support.hostile $(or $(N),20000) --spark
	TVFSQL_SOAK=1 $(BIN)/pytest -n 0 tests/laws/test_mutated_messages.py

site: $(DONE)  ## build the documentation as a site in site/, without network; a broken link fails
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

screens: $(DONE)  ## take the pictures in docs/screens anew; needs tmux and Chromium
	$(BIN)/python docs/screens

lint: $(DONE)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/mypy --config-file tests/mypy.ini
	$(BIN)/lint-imports

$(DONE): pyproject.toml
	$(call install,into .venv$(comma) with the tools for its tests: 2 GB,dev)
	@touch $@ $(RUNS)

# what running scripts takes, without the tools of the tests
$(RUNS): pyproject.toml
	$(call install,tvfsql$(comma) Spark and Java into .venv: 1 GB,java)
	@touch $@

.venv-dbt/.installed: pyproject.toml integrations/dbt/pyproject.toml
	@$(needs_python)
	@"$(PYTHON)" -m venv --clear .venv-dbt
	@echo "installing dbt into .venv-dbt ..."
	@.venv-dbt/bin/pip install --quiet --disable-pip-version-check --editable '.[java]' --editable './integrations/dbt[test]'
	@touch $@

.venv-flink/.installed:
	@$(needs_python)
	@"$(PYTHON)" -m venv --clear .venv-flink
	@echo "installing Flink into .venv-flink ..."
	@.venv-flink/bin/pip install --quiet --disable-pip-version-check 'apache-flink==2.3.*'
	@touch $@

# Delta and Iceberg have no release for newer versions of Spark; 4.1 is older than those that pyproject.toml allows
.venv-spark4%/.installed: pyproject.toml
	@$(needs_python)
	@"$(PYTHON)" -m venv --clear .venv-spark4$*
	@echo "installing Spark 4.$* into .venv-spark4$* ..."
	@.venv-spark4$*/bin/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@.venv-spark4$*/bin/pip install --quiet --disable-pip-version-check 'pyspark==4.$*.*'
	@touch $@
