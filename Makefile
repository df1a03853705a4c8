# Two commands do everything: `make demo` and `make test`.

GO ?= go
BIN := bin/orch
SRC := $(shell find . -name '*.go' -not -path './examples/*' 2>/dev/null) go.mod $(shell find prompts -type f 2>/dev/null)

.PHONY: build demo demo-memory test test-race test-clis report-shot pair-history bench bench-pair bench-memory bench-trust torture lint docs cross clean

build: $(BIN)

$(BIN): $(SRC)
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags='-s -w' -o $@ ./cmd/orch

# The main job on the embedded backend: one project that needs a new plan, and
# one that must be given up.
demo: build
	ORCH=$(CURDIR)/$(BIN) sh scripts/demo.sh

# What is learned from one run to the next, how it becomes a rule, and how it goes.
demo-memory: build
	ORCH=$(CURDIR)/$(BIN) sh scripts/memory-demo.sh

# What CI runs: vet, formatting, every test with the race detector, the script
# tests with the real binary, and builds for the other systems.
# A program built with the race detector waits a second before it exits, which
# adds up where tests start hundreds of processes.
# The enumerations of crashes, damage and kills are whole only without the race
# detector, under which they take minutes and show no more.
test: build lint cross
	$(GO) test -run 'Test(CrashAfterEvery|EveryOperationFails|DamagedCheckpoint|FoldProperties|DamageIsNoticed|TheStoreSays|KilledDreams)' ./blackboard ./roles/memory
	GORACE=atexit_sleep_ms=0 $(GO) test -race -timeout 25m ./...

lint:
	@out=$$(gofmt -l $$(git ls-files '*.go' 2>/dev/null || find . -name '*.go')); test -z "$$out" || { echo "not gofmt'ed:"; echo "$$out"; exit 1; }
	$(GO) vet ./...

cross:
	GOOS=darwin GOARCH=arm64 $(GO) build -o /dev/null ./cmd/orch
	GOOS=windows GOARCH=amd64 $(GO) build -o /dev/null ./cmd/orch
	GOOS=darwin GOARCH=arm64 $(GO) vet ./...
	GOOS=windows GOARCH=amd64 $(GO) vet ./...

# The performance bars, each as a ratio measured in the same run.
bench: build
	ORCH=$(CURDIR)/$(BIN) sh scripts/bench.sh

# The bars of the memory at 10^4, 10^5 and 10^6 entries; minutes.
bench-memory:
	$(GO) test -run xxx -bench Memory -benchtime 1x -timeout 30m ./roles/memory

# A scripted coder that hides wrong code from its tests in some hundred ways, before a
# reviewer who approves whatever code does not reject; minutes. One kind:
# make bench-trust TRUST="the code asks"
TRUST ?= all
bench-trust:
	ORCH_TRUST="$(TRUST)" $(GO) test -run 'TestTrust$$' -v -timeout 60m ./roles/codereviewer

# Longer runs of the fault tests than CI has time for.
torture: build
	ORCH_TORTURE=1 ORCH=$(CURDIR)/$(BIN) $(GO) test -timeout 170m ./...

# Real agent programs, installed and pinned, against the scripted model server,
# without a network. Takes minutes and several GB once; not part of CI.
# make test-clis CLIS="codex gemini:acp" CARDS=cards.md
test-clis: build
	ORCH=$(CURDIR)/$(BIN) CARDS="$(CARDS)" sh scripts/test-clis.sh $(CLIS)

# Audit reports in a headless Chromium: no request leaves them, pictures to look
# at. Needs a Chromium; not part of CI. make report-shot SHOTS=dir
report-shot: build
	ORCH=$(CURDIR)/$(BIN) sh scripts/report-shot.sh $(SHOTS)

# Consecutive released versions of a Go module through the coding profile, with
# one coder and with six: in the end the branch has exactly the last version's
# tree. Needs the module proxy or its cache; not part of CI.
pair-history: build
	ORCH=$(CURDIR)/$(BIN) sh scripts/pair-history.sh

# What a coding run costs beside its agents, at 10, 100 and 1,000 tasks; up to
# an hour for each board. make bench-pair PAIR="-tasks 10,100 -bound 5m"
bench-pair: build
	ORCH=$(CURDIR)/$(BIN) $(GO) run ./scripts/benchpair $(PAIR)

# Writes the generated pages; a test checks that they are current.
docs:
	$(GO) generate ./...

clean:
	rm -rf bin
