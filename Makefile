# Each target is a script in Scripts/ or Benchmarks/, so that it can be read, run and changed on its own.

PREFIX ?= /usr/local
SUITES ?= ../shared/conformance
ONLY ?=
SEEDS ?= 5000
SEED ?=

.DEFAULT_GOAL := help
.PHONY: help demo examples recipes test simulate bench lint conformance browsers docs api release install uninstall package package-check clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Show the main job, offline: cold, cached, expired, the server gone and back, a request by address
	@Scripts/prerequisites build
	@Scripts/demo

examples: ## Run the examples for curl, requests and AsyncHTTPClient against nginx
	@Scripts/prerequisites examples
	@Scripts/examples

recipes: ## Check the recipes of Config/: units by systemd, the rest by running it
	@Scripts/prerequisites recipes
	@swift build --product dnsctl
	@swift build --product dnsctl-proxy
	@Scripts/recipes "$$(swift build --show-bin-path)/dnsctl"

test: ## Build and run every test, the real name servers included, then those of dnsctl as a release build
	@Scripts/prerequisites servers
	@Scripts/test
	@Scripts/test --release --target DnsctlTests --target IntegrationTests

bench: ## Measure against C floors and peers; ONLY=cached runs the rows that begin so
	@Scripts/prerequisites bench
	@Benchmarks/run $(if $(ONLY),--only '$(ONLY)')

lint: ## Check formatting and the documentation rules
	@Scripts/lint

simulate: ## Lead the deciding machines through SEEDS=N made-up worlds; SEED=S tells the one that a failure named
	@DIRECTDNS_SEEDS='$(SEEDS)' DIRECTDNS_SEED='$(SEED)' Scripts/test --filter 'SimulationTests'

conformance: ## Run the conformance suites of SUITES=DIR and print the counts
	@Scripts/conformance '$(SUITES)'

browsers: ## Drive Chromium and WebKitGTK through the proxy: our own cases, and those beside SUITES=DIR
	@Scripts/prerequisites browsers
	@DIRECTDNS_TESTS_LOG=.build/browser-tests.log Scripts/test --filter BrowserTests
	@Scripts/browsers '$(SUITES)'

docs: ## Build the documentation, warnings as errors
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
	rm -rf .build .build-release .build-tsan .build-asan Benchmarks/.build Examples/AsyncHTTPClient/.build
