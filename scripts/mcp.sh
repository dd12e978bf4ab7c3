#!/usr/bin/env bash
# Shows that `pawl mcp` speaks the Model Context Protocol: the protocol's conformance suite for everything that the server
# declares, and MCP Inspector in CLI mode, which calls update_progress and reads it back from active_context.md.
# Everything is installed into .tools/mcp; the results are kept in .tools/mcp/results.
set -euo pipefail
cd "$(dirname "$0")/.."

NODE=24.21.0
SUITE=0.1.16
DRAFT=0.2.0-alpha.12
INSPECTOR=2.12.0
UNDICI=7.30.2
# The suite calls fixtures by name; a build with the tag conformance has them. Scenarios of what pawl does not declare are left
# out: prompts (which the scenario on caching wants, too), completion, logging, subscriptions, tasks, skills, headers made of
# arguments, and questions to the client (sampling, elicitation). SUITE tries polling with a version of the protocol that has
# none, so only DRAFT tries it.
COMMON="tools-list tools-call-simple-text tools-call-image tools-call-audio tools-call-embedded-resource tools-call-mixed-content
	tools-call-error tools-call-with-progress json-schema-2020-12 server-sse-multiple-streams resources-list resources-read-text
	resources-read-binary resources-templates-read dns-rebinding-protection"
SESSIONS="$COMMON server-initialize ping"
NEW_SESSIONS="$SESSIONS server-sse-polling server-session-lifecycle"
SESSIONLESS="$COMMON server-stateless http-header-validation sep-2164-resource-not-found"

command -v npm >/dev/null || { echo "mcp: npm is not installed; the suites come from its registry" >&2; exit 1; }
tools=$PWD/.tools/mcp
results=$tools/results
install() { # folder, packages
	local dir=$1
	shift
	if [ -f "$dir/.ready" ] && [ "$(cat "$dir/.ready")" = "$*" ]; then return; fi
	mkdir -p "$dir"
	echo "mcp: installing $*"
	timeout 600 npm install --no-audit --no-fund --silent --prefix "$dir" "$@" >/dev/null || {
		echo "mcp: the packages could not be installed; is the registry reachable?" >&2
		exit 1
	}
	echo "$*" >"$dir/.ready"
}
install "$tools" "node@$NODE" "@modelcontextprotocol/conformance@$SUITE" "@modelcontextprotocol/inspector@$INSPECTOR" "undici@$UNDICI"
install "$tools/draft" "@modelcontextprotocol/conformance@$DRAFT"
export PATH=$tools/node_modules/.bin:$PATH

CGO_ENABLED=0 go build -trimpath -o "$tools/pawl" ./cmd/pawl
CGO_ENABLED=0 go build -trimpath -tags conformance -o "$tools/pawl-conformance" ./cmd/pawl

work=$(mktemp -d)
server=
finish() {
	if [ -n "$server" ]; then kill "$server" 2>/dev/null && wait "$server" 2>/dev/null || true; fi
	rm -rf "$work"
}
trap finish EXIT
export HOME=$work/home XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config
mkdir -p "$HOME" "$work/repo"
pawl=$tools/pawl
git -C "$work/repo" init -q -b main
git -C "$work/repo" -c user.name=pawl -c user.email=pawl@localhost commit -q --allow-empty -m "first"
"$pawl" -C "$work/repo" init >/dev/null

# start BINARY: serves the workspace and sets url.
start() {
	"$1" -C "$work/repo" --json mcp --http 127.0.0.1:0 --token-file "$work/token" >"$work/ready" &
	server=$!
	for _ in $(seq 100); do
		url=$(sed -n 's/.*"url": *"\([^"]*\)".*/\1/p' "$work/ready")
		[ -z "$url" ] || break
		sleep 0.1
	done
	[ -n "$url" ] || { echo "mcp: pawl mcp did not start" >&2; exit 1; }
}
stop() { kill "$server"; wait "$server" || { echo "mcp: pawl mcp ended with $?" >&2; exit 1; }; server=; }

failed=0
rm -rf "$results"
mkdir -p "$results"
plain() { sed 's/\x1b\[[0-9;]*m//g' "$1"; }
suite() { # name, folder of the suite, version of the protocol, scenarios
	local good=0 bad=0 scenarios=0 s log p f
	for s in $4; do
		log=$results/$1-$3-$s.txt
		PAWL_MCP_TOOLS=$tools PAWL_MCP_TOKEN=$(cat "$work/token") NODE_OPTIONS="--import $PWD/scripts/mcp-token.mjs" timeout 120 \
			node "$2/node_modules/@modelcontextprotocol/conformance/dist/index.js" server --url "$url" --scenario "$s" --spec-version "$3" >"$log" 2>&1 || true
		p=$(plain "$log" | sed -n 's/^Passed: *\([0-9]*\)\/.*/\1/p' | tail -1)
		f=$(plain "$log" | sed -n 's/^Passed: .*, \([0-9]*\) failed.*/\1/p' | tail -1)
		if [ "${p:-0}" = 0 ] || [ "${f:-1}" != 0 ]; then
			echo "  FAILED $s (see $log)"
			failed=1
		fi
		scenarios=$((scenarios + 1)) good=$((good + ${p:-0})) bad=$((bad + ${f:-1}))
	done
	echo "conformance suite $1, protocol $3: $scenarios scenarios, $good checks passed, $bad failed" | tee -a "$results/summary.txt"
}
start "$tools/pawl-conformance"
suite "$SUITE" "$tools" 2025-11-25 "$SESSIONS"
suite "$DRAFT" "$tools/draft" 2025-11-25 "$NEW_SESSIONS"
suite "$DRAFT" "$tools/draft" 2026-07-28 "$SESSIONLESS"
stop

# The program that people get, over both transports.
"$pawl" -C "$work/repo" task create "write the parser" >/dev/null
inspect() { timeout 120 node "$tools/node_modules/.bin/mcp-inspector" --cli "$@"; }
count() { grep -c '"name": "[a-z_]*"' "$1" || true; }
inspect "$pawl" -C "$work/repo" mcp --method tools/list --strict >"$results/stdio-tools.json"
echo "inspector over stdio: $(count "$results/stdio-tools.json") tools"
inspect "$pawl" -C "$work/repo" mcp --method tools/call --tool-name update_progress \
	--tool-arg task=T-001 --tool-arg status=DONE --tool-arg "summary=parser finished" >"$results/update.json"
grep -n "progress: T-001" "$work/repo/.pawl/active_context.md" || { echo "mcp: active_context.md does not show the progress" >&2; exit 1; }
inspect "$pawl" -C "$work/repo" mcp --method tools/call --tool-name propose_plan --tool-arg "plan=goal: say hello
verification: {mode: none, commands: [], required: false, stop_on_fail: true}
steps:
- {step_id: s1, title: write it, intent: write it, tool_calls: [{name: write_file, args_hint: {path: hello.txt, content: hello}}]}
" >"$results/proposal.json"
"$pawl" -C "$work/repo" status | grep -q CONFIRMING || { echo "mcp: the proposal does not wait for a person" >&2; exit 1; }
[ ! -e "$work/repo/hello.txt" ] || { echo "mcp: the proposal was carried out without a person" >&2; exit 1; }
"$pawl" -C "$work/repo" deny >/dev/null
echo "inspector over stdio: a proposed plan waits for a person"
start "$pawl"
inspect "$url" --transport http --header "Authorization: Bearer $(cat "$work/token")" --method resources/read --uri pawl://context >"$results/context.json"
grep -q "parser finished" "$results/context.json" || { echo "mcp: the resource does not show the progress" >&2; exit 1; }
if inspect "$url" --transport http --method tools/list >"$results/no-token.txt" 2>&1; then
	echo "mcp: a client without the token was served" >&2
	exit 1
fi
echo "inspector over HTTP: reads pawl://context with the token, refused without"
stop
"$pawl" -C "$work/repo" audit verify >/dev/null
exit $failed
