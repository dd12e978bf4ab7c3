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

echo "test: vet"
"${go[@]}" vet ./...
echo "test: packages"
# The vet that go test does by itself is a part of the one above. One package more at a time than there are processors, and twice as
# many tests, because many wait more than they work. What a debugger needs is left out of the binaries, which links them faster.
more=$(($(nproc 2>/dev/null || echo 2) + 1))
"${go[@]}" test -vet=off -ldflags=-s -p "$more" -parallel "$((2 * more))" -timeout 60m "${flags[@]}" ./...
# The benchmarks are a module of their own, which ./... leaves out. Their tests measure next to nothing and need no server.
cd bench
echo "test: benchmarks, vet"
"${go[@]}" vet ./...
echo "test: benchmarks"
"${go[@]}" test -vet=off -timeout 5m "${flags[@]}" ./...
