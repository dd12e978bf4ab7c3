#!/bin/sh
# Installs coding agents of other makers, each in a folder of its own below .tools/agents, and drives them against a scripted
# model on loopback. Nothing of them becomes part of pawl.
#
#   scripts/agents.sh install [NAME…]   install, or those that are named; what is there in the right version is left alone
#   scripts/agents.sh drive [NAME]      drive all that are installed, or one entry of the catalog, without pawl's walls
#   scripts/agents.sh run [NAMES]       have pawl do whole runs with them, and put the results into docs/agents.md
#   scripts/agents.sh ci                install two of them and have pawl do whole runs with both
#   scripts/agents.sh list              print the packages and their versions
set -eu
cd "$(dirname "$0")/.."
dir=$PWD/.tools/agents

# Versions are exact: without one, npm takes the newest whose "engines" fit the machine's Node, which can be years old.
packages='
codex            @openai/codex                      0.169.0
opencode         opencode-ai                        1.18.33
gemini           @google/gemini-cli                 0.61.0
qwen             @qwen-code/qwen-code               0.15.10
pi               @mariozechner/pi-coding-agent      0.73.1
continue         @continuedev/cli                   1.5.47
cline            cline                              3.0.65
codex-acp        @zed-industries/codex-acp          0.16.0
claude-code      @anthropic-ai/claude-code          2.1.329
claude-agent-acp @zed-industries/claude-agent-acp   0.23.1
'

wanted() {
	want=$1
	shift
	[ $# -eq 0 ] && return 0
	for n; do [ "$n" = "$want" ] && return 0; done
	return 1
}

install() {
	command -v npm >/dev/null || { echo "npm is not installed; the agents come from its registry" >&2; exit 1; }
	missing=0
	while read -r name package version; do
		[ -n "$name" ] || continue
		wanted "$name" "$@" || continue
		if [ "$(cat "$dir/$name/.version" 2>/dev/null || true)" = "$package@$version" ]; then
			continue
		fi
		mkdir -p "$dir/$name"
		if timeout 300 npm install --prefix "$dir/$name" --no-audit --no-fund --no-save "$package@$version" >"$dir/$name/install.log" 2>&1 </dev/null; then
			echo "$package@$version" >"$dir/$name/.version"
			echo "installed $name $version"
		else
			missing=$((missing + 1))
			echo "could not install $name $version: see $dir/$name/install.log" >&2
		fi
	done <<-EOF
	$packages
	EOF
	[ "$missing" -eq 0 ]
}

# report puts the rows that a run left behind into the table of the documentation, each in the place of the agent's older one.
report() {
	awk -v rows="$1" '
		BEGIN { FS = "|"; while ((getline line < rows) > 0) { split(line, cell, "|"); fresh[cell[2]] = line; order[++n] = cell[2] } }
		/^<!-- results -->/ { table = 1 }
		table && /^\| / && ($2 in fresh) { print fresh[$2]; delete fresh[$2]; next }
		table && /^<!-- end of results -->/ { rest() ; table = 0 }
		{ print }
		function rest(  i) { for (i = 1; i <= n; i++) if (order[i] in fresh) print fresh[order[i]] }' docs/agents.md >docs/agents.md.new
	mv docs/agents.md.new docs/agents.md
	cat "$1"
}

case ${1:-} in
install) shift; install "$@" ;;
drive) PAWL_AGENTS=$dir PAWL_AGENT=${2:-} go test ./agent/externaltest -run TestLive -count=1 -timeout 30m -v ;;
run)
	rows=$(mktemp)
	trap 'rm -f "$rows"' EXIT
	PAWL_AGENTS_REPORT=$rows go test ./cmd/pawl -run 'TestAgents$' -agents "${2:-all}" -count=1 -timeout 60m -v || echo "some agents did not come to the end" >&2
	report "$rows"
	;;
ci)
	# Two agents belong to the tests, one of each kind. Where their registry does not answer, that is said and nothing else.
	if install pi codex-acp; then
		go test ./cmd/pawl -run 'TestAgents$' -agents pi,codex-acp -count=1 -timeout 20m
	else
		echo "agents: pi and codex-acp could not be installed, so no real agent was driven" >&2
	fi
	;;
list) echo "$packages" | sed '/^$/d' ;;
*)
	sed -n '4,11p' "$0" | sed 's/^# \{0,1\}//'
	exit 2
	;;
esac
