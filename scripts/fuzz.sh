#!/usr/bin/env bash
# Runs each fuzz target of the repository for the given time. What it found on the way is kept in the target's testdata/fuzz, as far as
# there are fewer inputs than the second argument says, so that every run of the tests tries it; a third one names a package to fuzz
# alone.
set -euo pipefail
cd "$(dirname "$0")/.."
time="${1:-30s}" keep="${2:-0}" only="${3:-}"
found=$(go env GOCACHE)/fuzz/$(go list -m)
grep -rEo '^func Fuzz[A-Za-z]+\(f \*testing.F\) \{$' --include='*_test.go' . | sort | while IFS=: read -r file target; do
	pkg=$(dirname "${file#./}") target=${target#func } target=${target%%(*}
	[ -z "$only" ] || [ "$only" = "$pkg" ] || continue
	echo "fuzz $pkg $target for $time"
	go test "./$pkg" -run '^$' -fuzz "^$target\$" -fuzztime "$time" </dev/null
	corpus=$pkg/testdata/fuzz/$target
	for input in "$found/$pkg/$target"/*; do
		[ -n "$(find "$input" -type f -size -2k 2>/dev/null)" ] || continue
		[ "$(find "$corpus" -type f 2>/dev/null | wc -l)" -lt "$keep" ] || break
		mkdir -p "$corpus"
		cp "$input" "$corpus/"
	done
done
