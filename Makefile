# Every target does its own set-up: the Go toolchain fetches what go.mod names.

GO ?= go

# Built packages do not depend on where the clone lies, so another clone's cache
# serves this one, too.
export GOFLAGS := -trimpath $(GOFLAGS)

.PHONY: build demo test plan-off check fuzz bench scorecard chaos soak dist clients-all tools clean

## build: bin/spillway, and bin/plugins/failover beside it
build: # as a release: static, without debugging tables, and without gRPC's trace pages,
# whose templates keep the linker from leaving out what nothing calls. A plugin is
# hashed whenever it starts, and what is not there takes no memory.
	CGO_ENABLED=0 $(GO) build -tags grpcnotrace -ldflags '-s -w' -o bin/spillway ./host/cmd/spillway
	CGO_ENABLED=0 $(GO) build -tags grpcnotrace -ldflags '-s -w' -o bin/plugins/failover ./plugin/failover

## demo: two simulated vendors are down, the answer comes all the same
demo: build
	@./bin/spillway demo

## test: everything: static checks, all tests under the race detector, short fuzzing
test: check # which has vetted everything already
	$(GO) test -race -vet=off -shuffle=on -timeout 20m $$($(GO) list ./... | grep -v /tests)
	$(GO) test -race -vet=off -shuffle=on -timeout 20m -p 1 ./tests/...
	SPILLWAY_PLAN=off $(GO) test -race -vet=off -shuffle=on -timeout 20m -run $(PLANOFF) ./tests/faults
	@.ci/fuzz 1s

# What the plan bears on most, of what takes little time.
PLANOFF := '^(TestFailoverBench|TestOneProbe)$$'

## plan-off: the black-box tests with a plugin that is asked about every call
plan-off:
	SPILLWAY_PLAN=off $(GO) test -race -vet=off -shuffle=on -timeout 20m -p 1 ./tests/...

## check: formatting, vet, staticcheck, go fix, go.mod
check: tools
	@.ci/check

## fuzz: each fuzz target for FUZZTIME, two at once
FUZZTIME ?= 1m
fuzz:
	@.ci/fuzz $(FUZZTIME)

## bench: what spillway costs beside other gateways, ten minutes or so; ARGS=-short for one, ARGS=-help for more
bench: build tools
	@$(GO) build -o bin/tools/bench ./tests/bench
	@bin/tools/bench $(ARGS)

## scorecard: the scenarios of the public Failover Bench, in real time, on three APIs
scorecard:
	$(GO) test -c -o bin/tools/faults.test ./tests/faults
	@cd tests/faults && ../../bin/tools/faults.test -test.run '^TestFailoverBench$$' -scorecard

## chaos: 150 000 calls while vendors, plugin, store, profile and network fail; ends with what was lost
chaos: bin/tools/chaos.test
	@cd tests/chaos && ../../bin/tools/chaos.test -test.run '^TestChaos$$' -test.timeout 0 \
		-chaos.calls 150000 -chaos.streamed 0.1 -chaos.for 9m30s -chaos.kills 150 -chaos.swaps 30 -chaos.saves 30

.PHONY: bin/tools/chaos.test
bin/tools/chaos.test:
	$(GO) test -c -o bin/tools/chaos.test ./tests/chaos

## soak: half an hour at half load, watched for growth; five minutes of edits, bad saves and replaced plugins under load, 200 killed plugins, 500 killed runs of tools, 500 killed agents, and 10 000 idle streams
soak: bin/tools/chaos.test
	cd tests/chaos && ../../bin/tools/chaos.test -test.run '^TestSoak$$' -test.timeout 0 -chaos.soak 30m -chaos.rate 150 -chaos.streamed 0.1
	$(GO) test ./tests -count 1 -run '^TestServeReload$$' -v -timeout 15m -reload.for 5m
	$(GO) test ./tests -count 1 -run '^TestPluginKilledUnderLoad$$' -v -timeout 15m -kills 200
	$(GO) test ./tests -count 1 -run '^TestAgentKilled$$' -v -timeout 15m -agent.kills 500
	$(GO) test ./host/agent/ledger -count 1 -run '^TestKilled$$' -v -timeout 15m -kills 500
	$(GO) test ./tests -count 1 -run '^TestIdleStreams$$' -v -timeout 15m -idle.streams 10000

## dist: bin/dist, an archive of static programs for each of six platforms, and their checksums
dist:
	$(GO) build -C .ci/tools -o ../../bin/tools/dist ./dist
	@bin/tools/dist

## clients-all: the agents that are too heavy for test; prints where their log is
clients-all:
	@.ci/clients-all

tools:
	@$(GO) build -C .ci/tools -o ../../bin/tools/ honnef.co/go/tools/cmd/staticcheck golang.org/x/perf/cmd/benchstat

clean:
	rm -rf bin
