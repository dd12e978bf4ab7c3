#!/usr/bin/env bash
# Runs every test, after installing what they need (scripts/setup.sh). It stops at the first part that fails, and ends with 0 only
# when everything passed and nothing that the README promises was left out. PAWL_TEST_FLAGS are flags for go test.
set -euo pipefail
cd "$(dirname "$0")/.."
read -ra go <<<"${GO:-go}"
read -ra flags <<<"${PAWL_TEST_FLAGS:-}"

# What could not be installed leaves out its own tests. Without Go or its modules, which is status 2, there are no others either.
status=0
scripts/setup.sh test || status=$?
[ "$status" -le 1 ] || exit "$status"
# What drives the real agents stands among the other tests, and leaves out those that this does not name.
export PAWL_TEST_AGENTS=
! scripts/agents.sh ready || PAWL_TEST_AGENTS=$(scripts/agents.sh tested)
# What is sent to GitHub is held to what GitHub publishes of its API, where that could be had.
scripts/contracts.sh ready || export PAWL_TEST_NO_CONTRACT=1

# The tests leave out what this names, and fail where another program is missing (internal/need).
without=$(scripts/setup.sh missing)
[ "$status" -eq 0 ] || [ -n "$without" ] || exit "$status"
export PAWL_TEST_WITHOUT=${without//$'\n'/ }
finish() {
	status=$?
	[ -n "$PAWL_TEST_WITHOUT" ] || exit "$status"
	echo "test: the README promises tests that were left out, for want of: $PAWL_TEST_WITHOUT" >&2
	[ "$status" -ne 0 ] || status=1
	exit "$status"
}
trap finish EXIT

# What is tried is the program as it is built, which has no C in it: what some tests build of it has been compiled by then.
# The race detector needs C.
[[ " ${flags[*]} " == *" -race "* ]] || export CGO_ENABLED=${CGO_ENABLED:-0}

echo "test: vet"
"${go[@]}" vet ./...
echo "test: packages"
# The vet that go test does by itself is a part of the one above. One package more at a time than there are processors, and twice as
# many tests, because many wait more than they work. What a debugger needs is left out of the binaries, which links them faster.
more=$(($(nproc 2>/dev/null || echo 2) + 1))
"${go[@]}" test -vet=off -ldflags=-s -p "$more" -parallel "$((2 * more))" -timeout 60m "${flags[@]}" ./...
# What decodes policies, patches, plans, front matter, the arguments of tools and reports of effects is tried with inputs that
# nobody thought of, each for PAWL_TEST_FUZZ (30s; 0 for none). One that fails is written to the package's testdata. None is made
# smaller first: that stands still for seconds, and at the end of the time go test takes it for a failure.
fuzz() { # PACKAGE TARGET …
	while [ $# -gt 0 ]; do
		"${go[@]}" test -vet=off "./$1" -run '^$' -fuzz "^$2\$" -parallel 1 -fuzztime "${PAWL_TEST_FUZZ:-30s}" -fuzzminimizetime 0s </dev/null || return
		shift 2
	done
}
if [ "${PAWL_TEST_FUZZ:-30s}" != 0 ]; then
	echo "test: decoders, fuzzed for ${PAWL_TEST_FUZZ:-30s} each"
	fuzz text/policy FuzzJudge driver/file FuzzPatch text/plan FuzzDecode &
	ended=0
	fuzz text/knowledge FuzzDocument driver/drivertest FuzzArguments kernel FuzzReceipt || ended=$?
	wait $! || ended=$?
	[ "$ended" -eq 0 ] || exit "$ended"
fi
# The benchmarks, whose tests measure next to nothing and need no server, and what holds the API to what was published of it are
# modules of their own, which ./... leaves out.
for module in bench internal/contract; do
	echo "test: $module, vet"
	(cd $module && "${go[@]}" vet ./...)
	echo "test: $module"
	(cd $module && "${go[@]}" test -vet=off -timeout 5m "${flags[@]}" ./...)
done
