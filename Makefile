# make run serves, make test tests; both set up .venv first. Everything else is for developers.
PYTHON ?= python3
BIN := .venv/bin
RUN := .venv/.run-installed
DEV := .venv/.dev-installed
PIPELINE := .venv/.pipeline-installed
DIST := .venv/.dist-installed
SITE := .venv/.site-installed
COMPILED := .venv/.tests-compiled
S3 := .cache/s3/server/.installed
PYTEST := $(BIN)/python -m pytest
ARGS ?=
WORKERS ?= 2
# Quick tests wait more than they compute: for answers, timers and processes that start.
QUICK_WORKERS ?= $(shell expr 3 \* $$(getconf _NPROCESSORS_ONLN))
# Where bytecode is not kept, each worker and each process that a test starts compiles everything anew, twenty seconds of a core.
export PYTHONDONTWRITEBYTECODE :=
NIGHTLY ?= test-long test-attacks oracle test-pipeline test-pipeline-cluster soak soak-hour mutants oracle-proxy chaos-proxy clients-proxy programs-proxy oracle-expiry test-pipeline-s3 test-pipeline-versions binary-python test-binary test-clients-java-binary

.PHONY: help run test test-long test-attacks test-all dist site test-site test-clients-java test-clients-java-binary test-docker test-pipeline test-pipeline-cluster test-pipeline-s3 test-pipeline-versions bench-pipeline spark-cluster check oracle oracle-proxy oracle-expiry differential conformance mutants soak soak-hour nightly chaos check-workers chaos-proxy golden messages docs clients programs clients-proxy programs-proxy examples bench bench-clients bench-clients-java bench-scale bench-throughput bench-proxy pictures binary binary-python binary-starts test-binary clients-code clients-packages test-clients-packages release lock clean

help:
	@echo "make run           serve on 127.0.0.1:9092 (ARGS='--port 0 --topic orders:3' adds options)"
	@echo "make test          the quick tests, less than ten minutes on two cores (Java 17 and Maven for those with JVM clients)"
	@echo "make test-all      the long ones, too: browser, clients in other languages, attacks (Go, kcat, Chromium); test-long, test-attacks: only these"
	@echo "make test-clients-java the Java packages in clients/java, with Kafka's own clients (Java 17, Maven)"
	@echo "make test-clients-java-binary an empty Java project with the packed command, without Python (make binary)"
	@echo "make test-docker   builds the image and runs it (a container engine: docker/engine.sh starts one)"
	@echo "make dist          builds wheel and sdist into dist/, installs them on every Python here, type checks a user's program"
	@echo "make binary        builds a self-contained kafkastub for this platform into dist/; binary-python an optimised Python for it"
	@echo "make test-binary   tries the binary where there is no Python; make binary-starts STARTS=1000 starts it as often"
	@echo "make clients-code  generates the types of the clients in other languages anew; clients-packages packs them"
	@echo "make test-clients-packages  the tests of clients/go, clients/rust and clients/typescript (Go, Cargo, Node.js)"
	@echo "make site          builds the documentation into site/ (ARGS=serve shows it while you write); make test-site tries it"
	@echo "make check         ruff, mypy, import contracts, generated code, phrases that docs/style.md replaces"
	@echo "make oracle        the same scenarios on Apache Kafka 4.4.0 and on the stub, fixed seeds (EVERY=5: a fifth of its random ones)"
	@echo "make oracle-proxy  clients, faults, holds, journal and random scenarios through a proxy in front of Apache Kafka"
	@echo "make oracle-expiry the expiry of offsets on both; waits for two real minutes"
	@echo "make differential  any seeds: SEEDS=1-1000 ARGS=\"--steps 40\" (--kind consumer|share|streams|data|odd|broken|access)"
	@echo "make conformance   the suite of kafkastub conform on stub, two Apache Kafkas and kfake; writes docs/conformance.md and anomalies.md"
	@echo "make clients       twelve client libraries on the stub and Apache Kafka; writes docs/clients.md (Maven, Go, Node.js, Cargo)"
	@echo "make programs      applications on the stub and Apache Kafka; writes docs/programs.md (Maven, Go)"
	@echo "make clients-proxy both of them on Apache Kafka directly and through kafkastub proxy (make programs-proxy)"
	@echo "make mutants       seeded defects in copies of the stub: each has to fail a case of that suite"
	@echo "make soak          the long ones; KAFKASTUB_SOAK_SECONDS bounds random histories (3600)"
	@echo "make soak-hour     one broker, all kinds of clients, faults and a page for MINUTES=60: nothing may grow (ARGS=--document)"
	@echo "make nightly       what takes hours: $(NIGHTLY); the end says what failed"
	@echo "make chaos         workers with a bug and correct ones in three languages, a thousand seeds of trouble"
	@echo "make check-workers  the correct workers in three languages, SEEDS=1000 of trouble: a check finds nothing of them"
	@echo "make chaos-proxy   the same workers behind a proxy in front of Apache Kafka, two hundred seeds"
	@echo "make examples      the projects under examples/ (needs Maven, Go, Node.js, Cargo)"
	@echo "make pictures      take docs/pictures of the page anew (Chromium)"
	@echo "make bench         figures beside an echo server, kfake and (WITH_KAFKA=1) Apache Kafka"
	@echo "make bench-clients the same tests in Go, TypeScript and Rust with a stub each and with what runs without it"
	@echo "make bench-clients-java the same Java tests with a stub each and with EmbeddedKafka"
	@echo "make bench-scale   what connections, groups, partitions and offsets cost at four sizes; writes docs/performance.md"
	@echo "make bench-throughput MB/s of real clients beside kfake and Apache Kafka, and its section of docs/performance.md (Go, Java 17)"
	@echo "make bench-proxy   what the proxy costs in front of Apache Kafka"
	@echo "make test-pipeline the PySpark pipeline's tests (Java 17); make bench-pipeline its figures"
	@echo "make test-pipeline-cluster the same on a standalone cluster of Spark whose workers and driver are killed"
	@echo "make test-pipeline-versions some of them on each other release of Spark (SPARKS='4.0 4.1 4.3'), with pandas 2 and 3"
	@echo "make spark-cluster a standalone cluster of Spark here, until Ctrl-C: a master, and WORKERS=2 of a core and 1 GB"
	@echo "make test-pipeline-s3 the same on object storage: fetches hadoop-aws with an SDK of 560 MB, once (Maven)"
	@echo "make golden        record the golden transcripts from Apache Kafka anew"
	@echo "make messages      generate protocol/kafkawire/messages anew"
	@echo "make docs          write docs/coverage.md, profiles.md, kips.md, releases.md and openapi.json anew, and what follows from it in clients/java"
	@echo "make release       builds all that a release consists of and tries each part; publishes nothing (ARGS=--dry-run)"
	@echo "make lock          resolve requirements/*.lock anew"

# What setting up has to say goes to standard error: the first line of `make run` is the ready line.
$(RUN): requirements/run.lock pyproject.toml
	@echo "setting up .venv" >&2
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/run.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(DEV) $(PIPELINE) $(DIST) $(SITE): .venv/.%-installed: requirements/%.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

$(DEV): $(RUN)
$(PIPELINE) $(DIST) $(SITE): $(DEV)

# Workers of pytest-xdist start at once: each would compile all tests by itself when they are new.
$(COMPILED): $(DEV)
	@$(BIN)/python -m compileall -q -j 0 protocol broker conformance
	@for part in quick long attacks; do $(PYTEST) --part $$part --collect-only --quiet >/dev/null & done; wait
	@touch $@

run: $(RUN)
	@exec $(BIN)/kafkastub serve $(ARGS)

test: $(COMPILED)
	$(PYTEST) --part quick -n $(QUICK_WORKERS) $(ARGS)

test-long: $(COMPILED)
	$(PYTEST) --part long -n $(WORKERS) $(ARGS)

test-attacks: $(COMPILED)
	$(PYTEST) --part attacks -n $(WORKERS) $(ARGS)

test-all: test test-long test-attacks

# Every module of clients/java, against the stub of this checkout; ARGS="-pl kafkastub-client" takes one.
# Testcontainers' janitor is an image of a registry, which may be out of reach, and so is the one that it asks for the
# host where there is a /.dockerenv: the tests clean up, and the engine is this machine's (as in examples/run.py).
test-clients-java: export TESTCONTAINERS_RYUK_DISABLED ?= true
test-clients-java: export TESTCONTAINERS_HOST_OVERRIDE ?= localhost
test-clients-java: $(DEV)
	KAFKASTUB=$(CURDIR)/$(BIN)/kafkastub mvn -B -q -T $(WORKERS) -f clients/java test $(ARGS)

# What `make binary` has made, as a Java project gets it: it has neither Python nor a checkout.
test-clients-java-binary: $(DEV)
	@$(MAKE) --no-print-directory binary ARGS=
	$(BIN)/python clients/java/tools/empty_project.py

bench-clients: $(DEV)
	$(BIN)/python -m clients.comparison.compare $(ARGS)

bench-clients-java: $(DEV)
	KAFKASTUB=$(CURDIR)/$(BIN)/kafkastub $(BIN)/python clients/java/tools/compare.py $(ARGS)

test-docker: $(DEV)
	$(PYTEST) -m docker $(ARGS)

dist: $(DIST)
	$(BIN)/python -m tests.dist.build dist
	$(PYTEST) -m dist tests/dist -n $(WORKERS) --dist loadgroup $(ARGS)

# The Python that is packed: an optimised one with an old C library, where `make binary-python` has built it, else this one.
BINARY_PYTHON ?= $(firstword $(wildcard $(CURDIR)/.cache/binary/python/bin/python3.11) $(PYTHON))
STARTS ?= 1000
binary: $(RUN)
	BINARY_PYTHON=$(BINARY_PYTHON) $(BIN)/python -m clients.binary.build $(ARGS)

binary-python:
	bash clients/binary/python.sh

binary-starts: $(RUN)
	$(BIN)/python -m clients.binary.starts --starts $(STARTS) --beside $(BIN)/kafkastub $(ARGS)

test-binary: $(DEV)
	@$(MAKE) --no-print-directory binary ARGS=
	$(PYTEST) -m binary tests/binary $(ARGS)
	@$(MAKE) --no-print-directory binary-starts ARGS=

clients-code: $(DEV)
	cd clients/typescript && npm ci --no-audit --no-fund --ignore-scripts
	$(BIN)/python -m clients.generate $(ARGS)

clients-packages: $(DEV)
	cd clients/typescript && npm ci --no-audit --no-fund --ignore-scripts && npm run --silent build
	$(BIN)/python -m clients.pack $(ARGS)

test-clients-packages: $(DEV)
	$(PYTEST) -m clients_packages tests/clients_packages $(ARGS)

site: $(SITE)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs $(or $(ARGS),build --strict --clean)

test-site: $(SITE)
	$(PYTEST) -m site tests/docs/test_site.py $(ARGS)

test-pipeline: $(PIPELINE)
	$(PYTEST) -m pipeline tests/pipeline $(ARGS)

test-pipeline-cluster: $(PIPELINE)
	$(PYTEST) -m pipeline_cluster tests/pipeline $(ARGS)

spark-cluster: $(PIPELINE)
	@$(BIN)/python -m tests.pipeline.spark_cluster --workers $(WORKERS) $(ARGS)

# Each release of Spark has an environment of its own, with the pipeline's beneath it.
SPARKS ?= 4.0 4.1 4.3
ON_EACH_SPARK ?= tests/pipeline/test_versions.py tests/pipeline/test_data_sources.py \
	tests/pipeline/test_again.py::test_formats_that_a_session_gets_by_packages
BENEATH = $(shell $(BIN)/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")
$(SPARKS:%=.cache/spark/%/.installed): .cache/spark/%/.installed: requirements/spark-%.lock $(PIPELINE)
	@$(PYTHON) -m venv .cache/spark/$*
	@.cache/spark/$*/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@echo "import site; site.addsitedir('$(BENEATH)')" \
		>"$$(.cache/spark/$*/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")/beneath.pth"
	@touch $@

test-pipeline-versions: $(SPARKS:%=.cache/spark/%/.installed)
	@failed=; for spark in $(SPARKS); do \
		echo "Spark $$spark"; \
		.cache/spark/$$spark/bin/python -m pytest -m "pipeline or soak" $(ON_EACH_SPARK) \
			-o cache_dir=.pytest_cache/spark-$$spark $(ARGS) || failed="$$failed $$spark"; \
	done; if [ -n "$$failed" ]; then echo "failed with Spark$$failed" >&2; exit 1; fi

# Apart from the others: Amazon's SDK is 560 MB, and its Python server needs libraries that the pipeline cannot have.
$(S3): requirements/s3.lock
	@$(PYTHON) -m venv .cache/s3/server
	@.cache/s3/server/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/s3.lock
	@touch $@

# On Spark 4.1, the newest that Iceberg has a runtime for.
test-pipeline-s3: .cache/spark/4.1/.installed $(S3)
	.cache/spark/4.1/bin/python -m pytest -m pipeline_s3 tests/pipeline_s3 $(ARGS)

check: $(PIPELINE)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYTHONPATH=protocol:broker:conformance:pipeline $(BIN)/lint-imports
	$(BIN)/python -m tests.oracle.messages --check
	$(BIN)/python -m tests.oracle.releases --check
	$(PYTEST) -q tests/docs/test_style.py

# EVERY=5 plays every fifth seed of the random scenarios, as CI does: what a seed is about goes by 2, 3, 4 and 8. And every
# fifth case of the conformance suite. By itself xdist begins with the files that have the most tests, and not with those
# that take long (tests/parts.py). Comparisons that need Spark are in test-pipeline.
EVERY ?= 1
oracle: export KAFKASTUB_EVERY := $(EVERY)
oracle: $(DEV)
	$(PYTEST) -m "oracle and not pipeline" -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

oracle-proxy: $(DEV)
	$(PYTEST) -m oracle_proxy -n $(WORKERS) --dist loadfile $(ARGS)

oracle-expiry: $(DEV)
	$(PYTEST) -m oracle_expiry $(ARGS)

SEEDS ?= 1-20
differential: $(DEV)
	$(BIN)/python -m tests.differential --seeds $(SEEDS) $(ARGS)

conformance: $(DEV)
	$(BIN)/python -m tests.conformance.document $(ARGS)

mutants: $(DEV)
	$(BIN)/python -m tests.conformance.mutants $(ARGS)

soak: $(DEV)
	$(PYTEST) -m soak $(ARGS)

MINUTES ?= 60
soak-hour: $(DEV)
	$(BIN)/python -m tests.soak --minutes $(MINUTES) $(ARGS)

release: $(DEV)
	@$(BIN)/python -m tests.dist.release $(ARGS)

nightly:
	@failed=; for target in $(NIGHTLY); do $(MAKE) --no-print-directory $$target || failed="$$failed $$target"; done; \
	if [ -n "$$failed" ]; then echo "make nightly: failed:$$failed" >&2; exit 1; fi; \
	echo "make nightly: all passed: $(NIGHTLY)"

chaos: $(DEV)
	CHAOS_SEEDS=1000 $(PYTEST) tests/chaos $(ARGS)

# Seeds are counted from 0; without SEEDS=N a thousand, which takes hours.
check-workers: SEEDS = 1000
check-workers: $(DEV)
	CHECK_SEEDS=$(SEEDS) $(PYTEST) tests/guarantees/test_workers.py tests/guarantees/test_programs.py -k correct $(ARGS)

chaos-proxy: $(DEV)
	PROXY_CHAOS_SEEDS=200 $(PYTEST) -m oracle_proxy tests/proxy/test_chaos.py $(ARGS)

golden: $(DEV)
	$(BIN)/python -m tests.golden.record $(ARGS)
	$(BIN)/python -m tests.clients.record_tools

messages: $(DEV)
	$(BIN)/python -m tests.oracle.messages

docs: $(DEV)
	$(BIN)/python -m tests.docs.generated
	$(BIN)/python clients/java/tools/generate.py

clients: $(DEV)
	$(BIN)/python -m tests.matrix $(ARGS)

programs: $(DEV)
	$(BIN)/python -m tests.programs $(ARGS)

clients-proxy: $(DEV)
	$(BIN)/python -m tests.matrix --proxy $(ARGS)

programs-proxy: $(DEV)
	$(BIN)/python -m tests.programs --proxy $(ARGS)

examples: $(DEV)
	$(BIN)/python examples/run.py $(ARGS)

pictures: $(DEV)
	$(BIN)/python -m tests.page.pictures $(ARGS)

bench: $(DEV)
	$(BIN)/python -m bench.run $(if $(WITH_KAFKA),--with-kafka) $(ARGS)

bench-scale: $(DEV)
	$(BIN)/python -m bench.scale --document $(ARGS)

bench-throughput: $(DEV)
	$(BIN)/python -m bench.throughput --document $(ARGS)

bench-proxy: $(DEV)
	$(BIN)/python -m bench.proxy $(ARGS)

bench-pipeline: $(PIPELINE)
	$(BIN)/python -m bench.pipeline $(ARGS)

lock:
	uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header \
		--extra build pyproject.toml -o requirements/run.lock
	uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header \
		--extra build --extra control --extra cli --extra journal --extra registry --extra security --extra test --extra dev \
		-c requirements/run.lock pyproject.toml -o requirements/dev.lock
	uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header \
		--extra build --extra control --extra cli --extra registry --extra security --extra binary \
		-c requirements/dev.lock pyproject.toml -o requirements/binary.lock
	uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header \
		--extra build --extra pipeline --extra test --extra dev -c requirements/dev.lock -c requirements/spark.in \
		pyproject.toml -o requirements/pipeline.lock
	for spark in $(SPARKS); do uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-header --no-annotate requirements/spark-$$spark.in -o requirements/spark-$$spark.lock; done
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		requirements/s3.in -o requirements/s3.lock
	uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header \
		--extra build --extra dist -c requirements/dev.lock pyproject.toml -o requirements/dist.lock
	uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header \
		--extra build --extra site -c requirements/dev.lock -c requirements/pipeline.lock pyproject.toml -o requirements/site.lock

clean:
	rm -rf .venv .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis
