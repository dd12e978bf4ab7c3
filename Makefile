# pawl: `make help` lists what there is.
SHELL := /bin/bash
GO ?= go
export GO
BIN := bin/pawl
T ?= 30s
N ?= 10
KEEP ?= 0
UNDER ?= none
FLAGS ?=
# The packages whose tests write golden files and generated documents.
GOLDEN := ./internal/templates ./sandbox/allow ./machine/... ./text/plan ./face/api ./face/cli ./face/cli/orders ./kernel/view ./face/tui ./text/triage ./text/knowledge ./text/solution ./text/backlog ./driver/drivertest ./internal/archtest
# What starts goroutines or is called from several. On two busy processors kernel takes 165 s under the detector, driver/checkpoint
# 45 s, tui 20 s and runner 3 s.
RACE := ./kernel ./store/follow ./runner ./face/tui ./store/... ./sandbox/... ./driver/checkpoint ./kernel/audit
# The tests of cmd/pawl in which workers, readers and a board meet: 75 s there.
RACE_PAWL := Board|Issues|Projections

.PHONY: browser help setup build install uninstall demo test test-all steady unwalled sensitivity tampering kills canaries foreign flat adversarial hints ways liars history agents logins mcp check lint race board recordings golden gen verify fuzz bench clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## install what the tests need beside Go, git and make
	@scripts/setup.sh
	@scripts/contracts.sh ready || true

build: ## build bin/pawl
	@mkdir -p bin
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags='-s -w' -o $(BIN) ./cmd/pawl

install: build ## install bin/pawl, its manual and completions into PREFIX (~/.local, or /usr/local for root), and say what is still needed
	@scripts/install.sh $(BIN)

uninstall: ## take away exactly what make install put into PREFIX
	@scripts/install.sh --uninstall

demo: build ## show what pawl is for, on a sample repository that stays until you remove it
	@$(BIN) demo

test: ## run every test; what is missing for them is named with its size, then installed
	@scripts/test.sh

test-all: ## run make test and the long tests of safety: foreign entries, canaries, kills, and the dashboard in a browser
	@$(MAKE) --no-print-directory test
	@$(MAKE) --no-print-directory foreign canaries kills browser

steady: setup ## run every test N times (N=10) beside a program that takes all processors and one that opens and closes sockets
	$(GO) run ./internal/disturb -times $(N) env PAWL_TEST_FLAGS=-count=1 scripts/test.sh

unwalled: setup ## take away one wall of pawl at a time: a test must notice, and nothing of the machine may be harmed
	$(GO) run ./internal/unwalled

sensitivity: setup ## put one error at a time into pawl: its tests must notice, all but one at most
	$(GO) run ./internal/sensitivity

tampering: ## change stores, audit logs, checkpoints, their key and folder 10,000 times at random, where make test tries a few: all has to be told; and verify 10,000 times beside writers
	$(GO) test -count=1 -timeout 60m ./kernel/audit -run '^TestVerifyFindsEveryMutation$$' -mutations 10000
	$(GO) test -count=1 -timeout 60m ./store/sqlite -run '^TestCorruption$$' -corruptions 10000
	$(GO) test -count=1 -timeout 120m ./store/notary -run '^TestTampering$$|^TestVerifyBesideProcesses$$' -mutations 10000 -verifies 10000 -v

kills: setup ## kill commits, landings, undos, worktrees and pull requests at every step that they take, and runs at many moments, and undo 2,000 random scripts, where make test takes a few
	PAWL_SCRIPTS=2000 GITTEST_ALL=1 $(GO) test -count=1 -timeout 60m ./driver/commit ./driver/land ./driver/checkpoint ./driver/forge
	$(GO) test -count=1 -timeout 60m ./cmd/pawl -run '^TestKill|^TestLogin_Kill$$|^TestPullRequest$$' -kills 24 -waykills 29 -agentkills 12 -pullkills

canaries: setup ## look for secrets in thousands of places of a developer's machine, by every command that pawl runs, under every mechanism, as root also as an ordinary user
	$(GO) test -count=1 -timeout 60m ./cmd/pawl -run '^TestCanaries$$' -canaries -v

foreign: setup ## replace every name that pawl makes by a link, pipe, device, and so on, and run every command twice, where make test tries a few
	$(GO) test -count=1 -timeout 60m ./cmd/pawl -run '^TestForeignEntries$$' -foreign . -v

flat: setup ## make 300 runs in one workspace, whose references and files have to stay as many, where make test makes eight
	$(GO) test -count=1 -timeout 120m ./cmd/pawl -run 'TestFlat$$' -flatruns 300 -v

adversarial: setup ## try every hostile case of docs/spec/threats.md, by number, behind each kind of walls, for root as an ordinary user too
	$(GO) run ./internal/adversarial

hints: setup ## do whatever pawl says can be done next, in every situation; make test goes through the usual ones
	$(GO) test -count=1 -timeout 30m ./cmd/pawl -run '^TestHintsAreTrue$$' -hints

ways: setup ## go the first run of pawl through the kinds of folders that people have, on each floor of UNDER (none): no dead end may be met
	$(GO) run ./internal/ways -under "$(UNDER)"

liars: setup ## have scripted workers, dishonest and honest, work for pawl: no lie may end as done, and honest work has to
	$(GO) run ./internal/liars

history: setup ## have changes between published versions of Go modules done anew, whole and by half: all are proven, no red half lands
	$(GO) run ./internal/history

agents: setup ## install coding agents of other makers into .tools and drive them (docs/agents.md)
	@scripts/agents.sh install
	@scripts/agents.sh run

logins: setup ## install Codex and Claude Code into .tools and drive them with logins of their own (docs/agents.md)
	@scripts/agents.sh install codex claude-code
	$(GO) test -count=1 -timeout 30m ./cmd/pawl -run '^TestLogins_Live$$' -logins codex,claude-code -v

mcp: setup ## run the MCP conformance suites and Inspector against pawl mcp
	@scripts/mcp.sh

check: ## formatting, vet and the rules of the house
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "run gofmt -w on these files"; exit 1; }
	$(GO) vet ./...
	$(GO) test ./internal/archtest ./text/message

lint: ## staticcheck, and deadcode on cmd/pawl; go run fetches both into the module cache, about 40 MB, and takes minutes
	@scripts/lint.sh

race: setup ## run the tests with the race detector
	$(GO) test -race $(RACE)
	$(GO) test -race ./cmd/pawl -run '$(RACE_PAWL)'

board: setup ## the long tests of the board: 40 issues, and the same while a worker is killed every five seconds
	$(GO) test -count=1 -timeout 30m ./cmd/pawl -run '^TestBoard' -v -issues 40 -issuekills

browser: ## look at every page of the dashboard in Chromium: live, by the keyboard, without script, in every size, under attack (FLAGS=-pictures takes those of the documents anew)
	@scripts/setup.sh browser
	$(GO) test -count=1 -tags browser -timeout 60m ./face/web -run '^TestBrowser|^TestRaces' -v -races 1000 $(FLAGS)

recordings: build ## film pawl at work, for the documents, into docs/recordings
	$(GO) run ./internal/recordings -pawl $(BIN)

golden: ## rewrite the golden files and the generated documents
	$(GO) test $(GOLDEN) -update
	cd internal/contract && $(GO) test . -update

gen: golden ## same as golden: everything that is generated is written by a test

verify: check ## fail when something generated is not fresh
	$(GO) test $(GOLDEN) ./kernel
	cd internal/contract && $(GO) test .

fuzz: ## fuzz everything that parses what an agent or a user wrote (T=30s each), and keep so many inputs of each target (KEEP=0)
	@scripts/fuzz.sh $(T) $(KEEP)

bench: ## side-by-side benchmarks, printed as ratios, with plots in bin/plots
	@scripts/postgres.sh install
	@cd bench && $(GO) run . -plots ../bin/plots

clean: ## remove what was built
	rm -rf bin
