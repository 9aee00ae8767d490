# Everything a person or a machine runs in this project. `make` alone lists it.

SHELL := /bin/sh
CONFIG ?= config.json
TESTS ?=
SEED ?=
ROUNDS ?= 300
MEMCHECK_SECONDS ?= 300
MIXED_SECONDS ?= 600
SOAK_SECONDS ?= 600
HOSTILE_SECONDS ?= 600

.DEFAULT_GOAL := help
.PHONY: help run test test-quick test-direct sim crash test-memory soak mutants bench bench-lists bench-reload check format setup release deb tarball test-package
.PHONY: test-browser test-reach container container-trial clean

help: ## List these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: release ## Install what is missing, build in release mode, start the proxy with config.json
	.build/release/layover run --config $(CONFIG)

test: ## Install what is missing, build, pass every test, those from end to end with the release binary, and play the tour with it
	@scripts/setup.sh build test
	@$(MAKE) --no-print-directory check
	@scripts/without-warnings.sh swift build --build-tests
	@if [ -n "$(TESTS)" ]; then exec scripts/test.py $(TESTS); fi; \
	scripts/without-warnings.sh scripts/build-release.sh && export LAYOVER_BINARY="$(CURDIR)/.build/release/layover" && \
	scripts/test.py && scripts/dashboard.sh && scripts/tour.sh

test-quick: ## The units that need no sockets, and one story: a minute when they are built
	swift build --build-tests
	@scripts/test.py quick

sim: ## Run the simulation alone; SEED=n runs one seed once more and shows its end
	swift build --build-tests
	SIM_SEED=$(SEED) scripts/test.py --filter LayoverSimulationTests

crash: ## Kill the proxy 300 times under load and see that nothing accepted is lost (about two minutes); SEED=n, ROUNDS=n
	@scripts/setup.sh build test
	swift build --build-tests
	CRASH_ROUNDS=$(ROUNDS) CRASH_SEED=$(SEED) scripts/test.py --filter CrashTests

test-direct: ## Clients and origins with and without Layover between them: both ends must see the same (a minute and a half)
	@scripts/setup.sh build test
	swift build --build-tests
	@scripts/test.py --filter 'EndToEnd/Direct/'

test-memory: ## The release binary under a long mixed load, then under valgrind, every byte compared (a quarter of an hour, and a release build)
	@scripts/setup.sh build test
	scripts/build-release.sh
	swift build --build-tests
	LAYOVER_BINARY=$(CURDIR)/.build/release/layover MEMCHECK_SECONDS=$(MEMCHECK_SECONDS) MIXED_SECONDS=$(MIXED_SECONDS) \
	    MIXED_SEED=$(SEED) scripts/test.py --filter MemoryTests
soak: ## Ten minutes of everything mixed, ten with hostile peers; memory, descriptors and threads must not grow; SOAK_SECONDS=n, HOSTILE_SECONDS=n, SEED=n
	@scripts/setup.sh build test
	scripts/build-release.sh
	swift build --build-tests
	LAYOVER_BINARY=$(CURDIR)/.build/release/layover SOAK_SECONDS=$(SOAK_SECONDS) MIXED_SEED=$(SEED) HOSTILE_SECONDS=$(HOSTILE_SECONDS) \
		HOSTILE_SEED=$(SEED) scripts/test.py --filter 'SoakTests|HostileTests'

mutants: ## Break one rule after the other and see the simulation fail (half an hour)
	scripts/mutants.sh

bench: ## Compare with Squid, tinyproxy, HAProxy and nginx, and hold 10 000 clients (about ten minutes)
	@scripts/setup.sh build bench
	scripts/build-release.sh
	@tools=$$(scripts/python-tools.sh bench) && \
	    /usr/bin/python3 -B Benchmarks/bench.py --layover .build/release/layover --tools $$tools $(BENCH)

bench-lists: ## Park 100 000 requests and time the lists, searches and orders of the admin API (two minutes)
	@scripts/setup.sh build
	scripts/build-release.sh
	/usr/bin/python3 -B Benchmarks/lists.py --layover .build/release/layover

bench-reload: ## Time requests while a reload changes the policy of 400 000 tickets (four minutes)
	@scripts/setup.sh build
	scripts/build-release.sh
	/usr/bin/python3 -B Benchmarks/reload.py --layover .build/release/layover

check: ## Check the house rules: imports, sizes, names, force unwraps, links in the docs; and test the rules themselves
	/usr/bin/python3 -B -m unittest discover --start-directory Tests/House
	scripts/check.py

format: ## Format every Swift file by .swift-format
	swift format --in-place --parallel --recursive --configuration .swift-format Package.swift Sources Tests

setup: ## Only install what building and testing need
	@scripts/setup.sh build test

release: ## Only build the release binary; the Dockerfile runs the same script
	@scripts/setup.sh build
	scripts/build-release.sh

deb: release ## Build the Debian package: .build/package/layover_….deb
	@scripts/setup.sh package
	@scripts/package/deb.sh

tarball: release ## Pack binary, man page, completions and units: .build/package/layover-….tar.gz
	@scripts/package/tarball.sh

test-package: release ## Install, run, upgrade, remove and purge the Debian package in a fresh root (root; about two minutes)
	@scripts/setup.sh package
	@scripts/package/trial.sh

test-browser: ## The dashboard by axe in all states, its HTML by vnu, and in Firefox, which also has to trust the authority
	@scripts/setup.sh build test browser
	swift build --build-tests
	@scripts/browser.sh
	@scripts/test.py --filter TrustStores

test-reach: ## Real clients behind `layover exec`: an outage, a 503 and a broken body, by http, tunnel and interception (a quarter of an hour; root)
	@scripts/setup.sh build test reach
	scripts/build-release.sh
	@tools=$$(scripts/python-tools.sh reach) && \
	    /usr/bin/python3 -B Tests/Reach/run.py --layover .build/release/layover --tools $$tools --table .build/reach.md $(REACH)

container: ## Build the container image with docker, podman or buildah, whichever is there
	scripts/container/image.sh

container-trial: ## Build the image without a registry, on bases made by debootstrap (root, buildah)
	scripts/container/trial.sh

clean: ## Remove everything that was built
	rm -rf .build
