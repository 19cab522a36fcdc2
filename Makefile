# Needs Python 3.11 or newer, pip and make; everything else is installed below .venv.
PYTHON ?= python3 python3.13 python3.12 python3.11  # the first that is new enough
VENV   := .venv
PEERS  := .bench-venv
CLIENTS := clients
AUDITOR := .audit-venv
DEPLOY := .deploy
CHROMIUM ?= chromium
PY     := $(VENV)/bin/python
INSTALL = $(if $(shell command -v uv),uv pip install --quiet --compile-bytecode --python $(PY),\
          $(PY) -m pip install --quiet --disable-pip-version-check --no-input)
LOCK    = uv pip compile pyproject.toml --group build --universal --python-version 3.11 \
          --generate-hashes --no-annotate --no-header --quiet

HOST    ?= 127.0.0.1
PORT    ?= 8000
DATA    ?= data
RULESET ?= davis
PLAYERS ?= 4
SMALL   ?= 100000
BIG     ?= 10000000
URL     ?= http://$(HOST):$(PORT)
GAMES   ?= 10
RATE    ?= 10
MINUTES ?= 1
SOAK_GAMES   ?= 1000
SOAK_MINUTES ?= 480

.DEFAULT_GOAL := help
.PHONY: help up demo test soak golden check bench bench-engine bench-store bench-store-big bench-feed bench-moves bench-api bench-report load audit openapi openapi-examples settings dashboard clients test-clients test-web test-alerts test-deploy lock clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 17

up: $(VENV)/installed  ## the whole server, embedded: make up [HOST=127.0.0.1] [PORT=8000] [DATA=data]
	@exec $(PY) -m infra.cli up --host $(HOST) --port $(PORT) --data $(DATA)

demo: $(VENV)/installed  ## bots play a game to watch: make demo [RULESET=davis] [PLAYERS=4]
	@exec $(PY) -m infra.cli demo --ruleset $(RULESET) --players $(PLAYERS)

test: $(VENV)/developing  ## all tests, on two cores
	$(PY) -m pytest -n 2 --dist loadgroup

soak: $(VENV)/developing  ## a night of bots at every table and of dying processes: make soak [SOAK_GAMES=1000] [SOAK_MINUTES=480]
	$(PY) -m pytest -n 2 --dist load --soak $(SOAK_GAMES) --soak-minutes $(SOAK_MINUTES) tests/soak \
	  tests/infra/test_restarts.py

golden: $(VENV)/developing  ## records the golden games, events and API document anew, where a change was wanted
	$(PY) -m pytest --record-golden tests/golden tests/openapi

check: $(VENV)/developing  ## format, lint, types, floors
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

bench: $(VENV)/developing  ## the measurements of the design's goals, on a stack of their own
	@exec $(PY) -m tests.bench

bench-engine: $(VENV)/developing $(PEERS)/installed  ## the engine's speed beside other engines (fetched once)
	@exec $(PY) -m tests.bench.engine

bench-store: $(VENV)/developing $(PEERS)/installed  ## the event store's speed beside pgbench and another event store
	@exec $(PY) -m tests.bench.store

bench-store-big: $(VENV)/developing  ## whether a large log is slower: make bench-store-big [SMALL=100000] [BIG=10000000]
	@exec $(PY) -m tests.bench.store_big $(SMALL) $(BIG)

bench-feed: $(VENV)/developing  ## how fast events come from the log to Redis, beside redis-py's pipeline, and to streams
	@exec $(PY) -m tests.bench.feed

bench-moves: $(VENV)/developing  ## moves of people and bots over HTTP, beside a handler that does nothing
	@exec $(PY) -m tests.bench.moves

bench-api: $(VENV)/developing  ## the API's edge: unchanged views, limits, a thousand streams, beside peers that do nothing else
	@exec $(PY) -m tests.bench.api

bench-report: $(VENV)/developing $(PEERS)/installed  ## how cost grows with games and streams, drawn in bench-results/
	@mkdir -p bench-results
	@$(PY) -m tests.bench.growth bench-results/growth.json
	@$(PEERS)/bin/python tests/bench/peers/draw.py bench-results/growth.json bench-results

load: $(VENV)/installed  ## people are simulated at `make up`, a report drawn: make load [GAMES=10] [RATE=10] [MINUTES=1] [URL=…] [DATA=data]
	@exec $(PY) -m infra.cli load --url $(URL) --games $(GAMES) --rate $(RATE) --minutes $(MINUTES) --data $(DATA)

audit: $(AUDITOR)/bin/pip-audit  ## asks the public list of advisories about every pinned package; needs the internet
	@for lock in requirements*.lock; do echo $$lock; \
	  $< --strict --disable-pip --require-hashes --progress-spinner off --requirement $$lock || exit 1; done

openapi: $(VENV)/installed  ## writes openapi/openapi.json and asyncapi.json from the code
	$(PY) -m infra.cli openapi

openapi-examples: $(VENV)/developing  ## records api/examples.json where answers have got another shape, and writes the documents
	-$(PY) -m pytest -q --record-examples tests/api
	$(PY) -m infra.cli openapi

dashboard: $(VENV)/installed  ## writes infra/deploy/observability/dashboard.json from the code
	$(PY) -m infra.watching.dashboard > infra/deploy/observability/dashboard.json

test-alerts: $(VENV)/developing  ## has each alert fire once; needs promtool, of Debian's package prometheus
	@command -v promtool >/dev/null || { echo "make test-alerts needs promtool: apt install prometheus"; exit 1; }
	promtool check config infra/deploy/observability/prometheus.yaml
	promtool check rules infra/deploy/observability/kubernetes.yaml
	promtool test rules tests/observability/alerts.yaml
	$(PY) -m pytest tests/observability

settings: $(VENV)/installed  ## writes infra/SETTINGS.md from the code
	$(PY) -m infra.cli settings > infra/SETTINGS.md

clients: $(VENV)/developing $(CLIENTS)/installed  ## makes clients in Python and TypeScript from openapi.json, in clients/
	PATH=$(VENV)/bin:$$PATH openapi-python-client generate --overwrite --meta none --path openapi/openapi.json \
	  --config openapi/examples/python/generator.yaml --output-path $(CLIENTS)/python/shanghai_client
	cp openapi/*.json openapi/examples/typescript/* $(CLIENTS)/typescript
	cd $(CLIENTS)/typescript && npm run --silent generate && npm run --silent build

test-clients: clients  ## the TypeScript client plays, and strangers' tools read the documents; needs Node
	$(PY) -m pytest --node tests/e2e

test-web: $(VENV)/browsing  ## the page /docs in a real browser: make test-web [CHROMIUM=/usr/bin/chromium]
	@command -v $(CHROMIUM) >/dev/null || { echo "make test-web needs Chromium: apt-get install chromium, or CHROMIUM=…"; exit 1; }
	$(PY) -m pytest --web $(CHROMIUM) tests/web

test-deploy: $(VENV)/developing $(DEPLOY)/installed $(DEPLOY)/workshop.tar $(DEPLOY)/python.tar  ## image, compose file, manifests, proxy and upgrades, in containers; as root, needs podman
	$(PY) -m pytest --deploy $(DEPLOY) tests/deploy

lock:  ## pins what pyproject.toml asks for; needs uv
	@command -v uv >/dev/null || { echo "make lock needs uv: pip install uv"; exit 1; }
	$(LOCK) --output-file requirements.lock
	$(LOCK) --group dev --constraints requirements.lock --output-file requirements-dev.lock
	$(LOCK) --group web --constraints requirements-dev.lock --output-file requirements-web.lock

clean:  ## removes what make and the tools made; the data folder stays
	rm -rf $(VENV) $(PEERS) $(CLIENTS) $(AUDITOR) $(DEPLOY) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps: what is installed follows the locks.
$(VENV)/installed: requirements.lock pyproject.toml | $(PY)
	$(INSTALL) --require-hashes -r requirements.lock
	$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/developing: requirements-dev.lock $(VENV)/installed
	$(INSTALL) --require-hashes -r requirements-dev.lock
	@touch $@

$(VENV)/browsing: requirements-web.lock $(VENV)/developing
	$(INSTALL) --require-hashes -r requirements-web.lock
	@touch $@

$(AUDITOR)/bin/pip-audit: | $(PY)
	$(PY) -m venv $(AUDITOR)
	$(AUDITOR)/bin/python -m pip install --quiet --disable-pip-version-check --no-input pip-audit==2.10.*

$(CLIENTS)/installed: openapi/examples/typescript/package-lock.json
	@command -v npm >/dev/null || { echo "The TypeScript client needs Node 20 or newer, with npm; found none"; exit 1; }
	@mkdir -p $(CLIENTS)/typescript
	cp openapi/examples/typescript/package*.json $(CLIENTS)/typescript
	npm ci --silent --ignore-scripts --prefix $(CLIENTS)/typescript
	@touch $@

$(DEPLOY)/installed: tests/deploy/validators.txt | $(PY)
	@test -x $(DEPLOY)/bin/python || $(PY) -m venv $(DEPLOY)
	$(DEPLOY)/bin/python -m pip install --quiet --disable-pip-version-check --no-input -r $<
	@touch $@

# File systems for images, made from Debian's packages since no registry may be reached: one with what builds and the
# engines, without Postgres's compiler of queries, and one with Python and no shell, which the product runs on.
$(DEPLOY)/workshop.tar: tests/deploy/workshop.txt
	@$(NEEDS_DEBIAN)
	@mkdir -p $(DEPLOY)
	mmdebstrap --quiet --format=tar --variant=minbase --include="$$(paste --serial --delimiters=, $<)" \
	  --dpkgopt=force-unsafe-io $(foreach path,/usr/share/doc/ /usr/share/man/ /usr/share/locale/ /usr/share/i18n/ \
	    /usr/lib/*/libLLVM /usr/lib/*/libz3 /usr/lib/postgresql/*/lib/llvmjit /usr/lib/postgresql/*/lib/bitcode/,\
	    --dpkgopt='path-exclude=$(path)*') \
	  --customize-hook='cd "$$1" && rm -r var/lib/postgresql/*' bookworm $@.new
	@mv $@.new $@

$(DEPLOY)/python.tar:
	@$(NEEDS_DEBIAN)
	@mkdir -p $(DEPLOY)
	mmdebstrap --quiet --format=tar --variant=extract --include=python3,ca-certificates,netbase,tzdata \
	  --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
	  --customize-hook='chroot "$$1" python3 -m compileall -q -j 1 /usr/lib/python3.11' \
	  --customize-hook='cd "$$1" && rm -r usr/share/doc usr/share/man usr/share/locale var/lib/apt var/cache' bookworm $@.new
	@mv $@.new $@

NEEDS_DEBIAN = command -v mmdebstrap > /dev/null || { echo "make test-deploy needs root on Debian, and: \
  apt-get install --no-install-recommends podman buildah runc netavark aardvark-dns catatonit iptables mmdebstrap"; exit 1; }

# One peer a line: one that cannot be had does not keep the others away, and is tried again the next time.
$(PEERS)/installed: tests/bench/peers/python.txt tests/bench/peers/package.json
	@test -x $(PEERS)/bin/python || $(PY) -m venv $(PEERS)
	@all=yes; while read -r peer; do \
	  $(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --no-input $$peer || all=no; \
	done < tests/bench/peers/python.txt; \
	cp tests/bench/peers/package.json $(PEERS) && npm install --silent --ignore-scripts --no-package-lock --prefix $(PEERS) \
	  || all=no; \
	test $$all = no || touch $@

$(PY):
	@for python in $(PYTHON); do \
	  if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    $$python -m venv $(VENV) && exit 0; rm -rf $(VENV); exit 1; \
	  fi; \
	done; \
	echo "Shanghai needs Python 3.11 or newer and found none: make PYTHON=/path/to/python3.11 ..."; exit 1
