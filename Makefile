# Evoke: what one does with the project. `make` alone lists the targets.
# Needs Go, make and git; the local encoder is fetched with Python 3's pip. No C compiler: where one exists the race
# detector runs too.

GO      ?= go
# How long each fuzz target runs in `make test` and `make fuzz`.
FUZZTIME ?= 2s
# The folder that `make bench` reads its recall-quality sets from.
DATA    ?= ../shared/data

BINARY  := bin/evoke
SOAKLOG := docs/soak.md

.DEFAULT_GOAL := help
.PHONY: help build demo test race fuzz soak axe browser bench cover lint generate verify clean

help: ## List the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  \1\t/' | expand -t 14

build: ## Build the one binary, static, into bin/
	@CGO_ENABLED=0 $(GO) build -trimpath -o $(BINARY) ./cmd/evoke

demo: build ## Run it: fetch the local encoder once, take the sample conversation in, ask it questions
	@.ci/demo $(BINARY)

test: ## Test it: gofmt, vet, all tests, the race detector where a C compiler exists, a moment of each fuzz target
	@GO="$(GO)" FUZZTIME="$(FUZZTIME)" .ci/test

race: ## Run the tests of the concurrent packages under the race detector (needs a C compiler)
	@GO="$(GO)" .ci/race

fuzz: ## Fuzz every target for FUZZTIME each (2s unless given)
	@GO="$(GO)" .ci/fuzz $(FUZZTIME)

soak: ## Run the long proofs whole (`make test` runs a seeded part; PROOF=regexp: some only) and write their rows to docs/soak.md
	@GO="$(GO)" PROOF="$(PROOF)" .ci/soak $(SOAKLOG)

axe: ## Fetch axe-core, with which the tests of the admin page look for what keeps people out (needs npm)
	@.ci/axe

browser: ## Drive the whole admin page in a real Chromium (needs one on the PATH, and axe-core: make axe)
	@EVOKE_SOAK=1 $(GO) test -run 'Browser|Paint' -v ./cmd/internal/page

bench: build ## Recall quality and latency on the sets in DATA, then the Go benchmarks of the hot paths
	@.ci/bench $(BINARY) $(DATA)

cover: ## Statement coverage by package, failing below 80 %
	@GO="$(GO)" .ci/cover 80

lint: ## golangci-lint, built from the pinned tools module and cached
	@GO="$(GO)" .ci/lint run

generate: ## Rebuild generated code and references
	@GO="$(GO)" .ci/generate

verify: generate ## Fail when a generated file is not what its source makes
	@git diff --exit-code -- $$(git ls-files '*.gen.go' docs/configuration.md) || { echo "verify: run 'make generate' and commit the result" >&2; exit 1; }
	@echo "verify: generated files are current"

clean: ## Remove what the build made (caches and models outside the project stay)
	@rm -rf bin dist coverage.txt
