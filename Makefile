# Everything a contributor types. `make help` lists it.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DOCKER ?= docker
IMAGE := berth:0.1.0# as in manifests/base

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(STAMP): pyproject.toml requirements-dev.lock
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-dev.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $@

install: $(STAMP) ## make the virtual environment with pinned packages

demo: $(STAMP) ## place a workload on a small in-memory cluster and explain it (KEEP=1 keeps it running)
	$(BIN)/berth demo $(if $(KEEP),--keep)

test: $(STAMP) ## run all tests that this machine can run
	$(BIN)/python -m pytest $(ARGS)

SEEDS ?= 100
parity: $(STAMP) controlplane ## compare berth with the real kube-scheduler on random clusters (SEEDS=100)
	$(BIN)/python -m tests.parity --seeds $(SEEDS) $(ARGS)

ROUNDS ?= 10
fuzz: $(STAMP) ## look for examples that break a law, ever new ones (ROUNDS=10)
	for round in $$(seq $(ROUNDS)); do \
	    $(BIN)/python -m pytest -q --hypothesis-profile=fuzz -m "hypothesis and not controlplane" $(ARGS) || exit 1; \
	done

check: $(STAMP) ## lint, format check, types, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP) ## format the code
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

lock: ## pin the newest packages that pyproject.toml allows
	$(PYTHON) -m venv $(VENV) && $(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --extra uvloop pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --extra uvloop --group dev pyproject.toml -o requirements-dev.lock

controlplane: ## build a real control plane for tests (needs Go)
	tools/controlplane/build.sh

test-node: $(STAMP) controlplane ## run berth in containers on a real node (root; gets Debian packages)
	tests/node/install.sh
	BERTH_REQUIRE_CONTROLPLANE=1 $(BIN)/python -m pytest -m node $(ARGS)

bench: $(STAMP) controlplane ## measure berth and kube-scheduler side by side (ONLY=spread NODES=1000 PODS=500 ROUNDS=3)
	$(BIN)/python -m tests.bench.cluster $(if $(ONLY),--only $(ONLY)) $(if $(NODES),--nodes $(NODES)) \
	    $(if $(PODS),--pods $(PODS)) $(if $(filter-out file,$(origin ROUNDS)),--rounds $(ROUNDS)) $(ARGS)

bench-engine: $(STAMP) ## measure decisions per second without any API (ARGS="--nodes 5000 --nodes 100000")
	$(BIN)/python -m tests.bench.engine $(ARGS)

bench-watch: $(STAMP) ## measure what following pods costs, in time and memory
	$(BIN)/python -m tests.bench.watch $(ARGS)

bench-preemption: $(STAMP) ## measure what one preemption decision costs at 5,000 nodes
	$(BIN)/python -m tests.bench.preemption $(ARGS)

image: ## build the container image
	$(DOCKER) build -t $(IMAGE) .

kind-up: ## make a local cluster (needs Docker and kind)
	kind create cluster --config manifests/kind.yaml

kind-load: image ## put the image on the local cluster's nodes
	kind load docker-image $(IMAGE) --name berth

kind-deploy: ## run berth in the local cluster
	kubectl --context kind-berth apply -k manifests/overlays/kind
	kubectl --context kind-berth -n berth-system rollout status deployment/berth --timeout 2m

kind-down: ## delete the local cluster
	kind delete cluster --name berth

.PHONY: help install demo test parity fuzz check format lock controlplane test-node bench bench-engine bench-watch bench-preemption image kind-up kind-load kind-deploy kind-down
