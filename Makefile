# Each target is a script in Scripts/ or Benchmarks/, so that it can be read, run and changed on its own.

PREFIX ?= /usr/local
SUITES ?= ../shared/conformance
ONLY ?=
# Suites that `make test` leaves out, and what watches its debug build: SANITIZE=address, which counts the lines run as well.
SKIP ?=
SANITIZE ?=
SEEDS ?= 5000
SEED ?=
TARGET ?=
# How long fuzz, soak and promises take; each has a default of its own.
SECONDS ?=
KILLS ?= 500
TORTURE ?=
# What is run as users run it: the programs, and what uses so much of Foundation that a sanitizer would tell of its leaks.
RELEASE_TESTS = DnsctlTests IntegrationTests DirectDNSFoundationTests DirectDNSTestingTests PipelineTests
# What runs under the thread sanitizer.
RACES = DirectDNSTests DirectDNSProxyTests DirectDNSSQLiteTests DirectDNSRedisTests DirectDNSFoundationTests \
	DirectDNSConfigurationTests DirectDNSPrometheusTests

.DEFAULT_GOAL := help
.PHONY: help demo pipeline examples recipes test simulate bench lint conformance browsers docs api release install uninstall package package-check clean
# What make trust runs.
.PHONY: trust mutate faults fuzz attack races torture crashes promises soak repeat coverage

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Show the main job, offline: cold, cached, expired, the server gone and back, a request by address
	@Scripts/prerequisites build
	@Scripts/demo

pipeline: ## Run Examples/Pipeline, a webhook sender, offline, and kill every DNS server half-way
	@Scripts/prerequisites build
	@Scripts/pipeline

examples: ## Run the examples for curl, requests and AsyncHTTPClient against nginx, and the pipeline
	@Scripts/prerequisites examples
	@Scripts/examples $(ONLY)
	@Scripts/pipeline

recipes: ## Check the recipes of Config/ and of the page Proxy: units by systemd, the rest by running it
	@Scripts/prerequisites recipes
	@swift build --product dnsctl
	@swift build --product dnsctl-proxy
	@Scripts/recipes "$$(swift build --show-bin-path)/dnsctl"
	@Scripts/proxy-recipes "$$(swift build --show-bin-path)/dnsctl"
	@Scripts/pod-recipe "$$(swift build --show-bin-path)/dnsctl"

test: ## Build and run every test: those of the programs, with real servers, and those that use much of Foundation as a release build, the others as a debug build
	@Scripts/prerequisites servers
	@status=0; \
	Scripts/test $(if $(SANITIZE),--sanitize $(SANITIZE) --coverage) $(addprefix --except ,$(RELEASE_TESTS)) $(if $(SKIP),--skip '$(SKIP)') || status=$$?; \
	Scripts/test --release $(addprefix --target ,$(RELEASE_TESTS)) $(if $(SKIP),--skip '$(SKIP)') || status=$$?; \
	exit $$status

bench: ## Measure against C floors and peers; ONLY=cached runs the rows that begin so
	@Scripts/prerequisites bench
	@Benchmarks/run $(if $(ONLY),--only '$(ONLY)')

soak: ## Do everything at once for SECONDS=600: memory, descriptors and threads stay what they were
	@Scripts/prerequisites servers
	@MALLOC_ARENA_MAX=1 DIRECTDNS_SOAK_SECONDS='$(or $(SECONDS),600)' Scripts/test --release --target IntegrationTests --filter SoakTests

coverage: ## Say how much of the library its tests run
	@Scripts/test --coverage --sanitize address --target DirectDNSTests
	@Scripts/coverage .build-asan

repeat: ## Run every test ROUNDS=50 times, debug and release, beside LOAD=0 busy processes; the logs of runs that failed are kept
	@Scripts/prerequisites servers
	@Scripts/repeat '$(or $(ROUNDS),50)' '$(or $(LOAD),0)'

trust: ## Run all that is too long for each change, and print one table; some hours
	@Scripts/trust

lint: ## Check formatting and the documentation rules
	@Scripts/lint

simulate: ## Lead the deciding machines through SEEDS=N made-up worlds; SEED=S tells the one that a failure named
	@DIRECTDNS_SEEDS='$(SEEDS)' DIRECTDNS_SEED='$(SEED)' Scripts/test --filter 'SimulationTests'

mutate: ## Change each operator, constant and condition of the deciding code, or ONLY=Policy of it: a test has to notice
	@Scripts/prerequisites build
	@Trust/mutate $(if $(ONLY),--only '$(ONLY)')

faults: ## Put faults of the past back, one at a time: the simulation has to find each
	@Scripts/prerequisites build
	@Trust/faults

fuzz: ## Fuzz TARGET=NAME for SECONDS=N; without a target each of them (see Fuzzing/README.md)
	@Scripts/prerequisites build
	@Scripts/fuzz --seconds '$(or $(SECONDS),60)' $(TARGET)

attack: ## Send SEEDS=N requests to hostile servers, and to the proxy as hostile clients, under the address sanitizer; SEED=S for one
	@Scripts/prerequisites build
	@DIRECTDNS_SEEDS='$(SEEDS)' DIRECTDNS_SEED='$(SEED)' Scripts/test --sanitize address --target DirectDNSTests --target DirectDNSProxyTests --filter AttackTests

conformance: ## Run the conformance suites of SUITES=DIR and print the counts
	@Scripts/conformance '$(SUITES)'

browsers: ## Drive Chromium and WebKitGTK through the proxy: our own cases, and those beside SUITES=DIR (alone: SUITES=)
	@Scripts/prerequisites browsers
	@DIRECTDNS_TESTS_LOG=.build/browser-tests.log Scripts/test --release $(addprefix --target ,$(RELEASE_TESTS)) --filter BrowserTests
	@$(if $(SUITES),Scripts/browsers '$(SUITES)')

races: ## Run the library, its products, the stores and the proxy under the thread sanitizer
	@Scripts/prerequisites servers
	@Scripts/test --sanitize thread $(addprefix --target ,$(RACES))

torture: ## Make each system call of dnsctl and of its proxy fail in turn, in each scenario of Trust/; TORTURE='--scenario …' for some
	@Scripts/prerequisites trust
	@Scripts/release
	@Scripts/release --shared
	@Trust/torture $(TORTURE)

crashes: ## Kill dnsctl KILLS=500 times while it writes, and cut the power: nothing is lost, broken or half there
	@Scripts/prerequisites trust
	@Scripts/release
	@Trust/crashes --kills '$(KILLS)' $(if $(SEED),--seed '$(SEED)')

promises: ## Measure the three promises: DNS dead (SECONDS=60 of it in real time), lying, slow
	@Scripts/prerequisites trust
	@Scripts/release
	@Trust/promises --seconds '$(or $(SECONDS),60)'

docs: ## Build the documentation and compile every Swift block of the pages, warnings as errors
	@Scripts/docs

api: ## Compare the public API with the last release
	@Scripts/api

release: ## Build dnsctl as one binary with the standard library inside
	@Scripts/prerequisites build
	@Scripts/release

install: ## Install dnsctl, its manual and its completions under PREFIX=/usr/local (DESTDIR is honoured)
	@Scripts/install '$(PREFIX)' '$(DESTDIR)'

uninstall: ## Remove what make install has put there
	@Scripts/install --remove '$(PREFIX)' '$(DESTDIR)'

package: ## Make a .deb, a .tar.gz, what they are made of and checksums, in .build/package
	@Scripts/prerequisites package
	@Scripts/package

package-check: ## Check them: lintian, and a fresh Debian in which the package is installed and removed (as root)
	@Scripts/prerequisites package
	@Scripts/package-check

clean: ## Remove everything that was built
	rm -rf .build .build-release .build-tsan .build-asan .build-fuzz Benchmarks/.build Examples/AsyncHTTPClient/.build
