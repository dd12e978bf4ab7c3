#!/usr/bin/env bash
# Runs each fuzz target of the repository for the given time.
set -euo pipefail
time="${1:-30s}"
for pkg in $(go list ./...); do
	for target in $(go test -list '^Fuzz' "$pkg" | grep '^Fuzz' || true); do
		echo "fuzz $pkg $target for $time"
		go test "$pkg" -run '^$' -fuzz "^$target\$" -fuzztime "$time"
	done
done
