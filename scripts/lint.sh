#!/usr/bin/env bash
# Runs staticcheck and deadcode on the module and ends with 1 when they name something. Both are programs beside pawl: go run fetches
# them in these versions into the module cache, and no module of ours depends on them.
set -euo pipefail
cd "$(dirname "$0")/.."
read -ra go <<<"${GO:-go}"

staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2
deadcode=golang.org/x/tools/cmd/deadcode@v0.51.0

status=0
echo "lint: staticcheck"
"${go[@]}" run "$staticcheck" ./... || status=1

# What the program cannot reach is for tests alone: it belongs into tests, or goes. scripts/lint.txt names what is left of it.
echo "lint: deadcode"
found=$("${go[@]}" run "$deadcode" -f '{{range .Funcs}}{{printf "%s %s\n" $.Path .Name}}{{end}}' ./cmd/... | sed '/^$/d' | sort)
spared=$(sed 's/ *#.*//; /^$/d' scripts/lint.txt | sort)
new=$(comm -23 <(echo "$found") <(echo "$spared"))
old=$(comm -13 <(echo "$found") <(echo "$spared"))
[ -z "$new" ] || { printf 'nothing of the program calls:\n%s\n' "$new"; status=1; }
[ -z "$old" ] || { printf 'to be taken out of scripts/lint.txt:\n%s\n' "$old"; status=1; }
exit "$status"
