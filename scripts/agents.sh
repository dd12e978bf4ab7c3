#!/bin/sh
# Installs coding agents of other makers, each in a folder of its own below .tools/agents, and drives them against a scripted
# model on loopback. Nothing of them becomes part of pawl.
#
#   scripts/agents.sh install [NAME…]   install, or those that are named; what is there in the right version is left alone
#   scripts/agents.sh drive [NAME]      drive all that are installed, or one entry of the catalog, without pawl's walls
#   scripts/agents.sh run [NAMES]       have pawl do whole runs with them, and put the results into docs/agents.md
#   scripts/agents.sh missing           print which of the two that belong to the tests would be installed, with their sizes
#   scripts/agents.sh ready             install these two, or say in one line why not
#   scripts/agents.sh tested            print the names of these two
#   scripts/agents.sh list              print the packages and their versions
set -eu
cd "$(dirname "$0")/.."
dir=$PWD/.tools/agents
go=${GO:-go}

# Versions are exact: without one, npm takes the newest whose "engines" fit the machine's Node, which can be years old. The last
# column says how many MB those that belong to the tests, one of each kind, take to fetch and on disk.
packages='
codex            @openai/codex                      0.169.0
opencode         opencode-ai                        1.18.33
gemini           @google/gemini-cli                 0.61.0
qwen             @qwen-code/qwen-code               0.15.10
pi               @mariozechner/pi-coding-agent      0.73.1   40 MB to fetch, 205 MB on disk
continue         @continuedev/cli                   1.5.47
cline            cline                              3.0.65
codex-acp        @zed-industries/codex-acp          0.16.0   75 MB to fetch, 225 MB on disk
claude-code      @anthropic-ai/claude-code          2.1.329
claude-agent-acp @zed-industries/claude-agent-acp   0.23.1
'
tested='pi codex-acp'

# absent [NAME…] prints the rows of those that are not installed in the right version.
absent() {
	while read -r name package version size; do
		[ -n "$name" ] || continue
		wanted "$name" "$@" || continue
		[ "$(cat "$dir/$name/.version" 2>/dev/null || true)" = "$package@$version" ] || echo "$name $package $version $size"
	done <<-EOF
	$packages
	EOF
}

wanted() {
	want=$1
	shift
	[ $# -eq 0 ] && return 0
	for n; do [ "$n" = "$want" ] && return 0; done
	return 1
}

# install [NAME…] goes on after one that could not be installed, and leaves in why the reason of the last of them.
install() {
	why=
	command -v npm >/dev/null || { echo "agents: npm is not installed; the agents come from its registry" >&2; return 1; }
	rows=$(absent "$@")
	while read -r name package version size; do
		[ -n "$name" ] || continue
		mkdir -p "$dir/$name"
		echo "agents: installing $name $version, the npm package $package${size:+, about $size in .tools/agents/$name}"
		status=0
		timeout 300 npm install --prefix "$dir/$name" --no-audit --no-fund --no-save "$package@$version" >"$dir/$name/install.log" 2>&1 </dev/null || status=$?
		if [ "$status" -eq 0 ]; then
			echo "$package@$version" >"$dir/$name/.version"
			continue
		fi
		why=$(grep -m 1 -iE '^npm (err|error)' "$dir/$name/install.log" || tail -n 1 "$dir/$name/install.log")
		[ "$status" -ne 124 ] || why="npm did not come to an end within five minutes"
		why="$name $version could not be installed: $why; see .tools/agents/$name/install.log"
		echo "agents: $why" >&2
	done <<-EOF
	$rows
	EOF
	[ -z "$why" ]
}

# missing names what ready would install, for the list that scripts/setup.sh prints.
missing() {
	command -v npm >/dev/null || return 0
	# shellcheck disable=SC2086 # one word for each agent
	absent $tested | while read -r name package version size; do
		printf '  %-17s an npm package, about %s in .tools/agents/%s: a real coding agent does whole runs\n' "$name $version" "$size" "$name"
	done
}

# ready installs those that belong to the tests. They are an addition where npm is there: what is in the way is said in one line.
ready() {
	command -v npm >/dev/null || { echo "left out: real coding agents (npm is not installed; with it, make agents drives them)"; return 1; }
	for agent in $tested; do
		install "$agent" 2>/dev/null || { echo "left out: real coding agents ($why)"; return 1; }
	done
}

# report puts the rows that a run left behind into a table of the documentation, each in the place of the agent's older one.
report() {
	awk -v rows="$1" -v name="$2" '
		BEGIN { FS = "|"; while ((getline line < rows) > 0) { split(line, cell, "|"); fresh[cell[2]] = line; order[++n] = cell[2] } }
		$0 == "<!-- " name " -->" { table = 1 }
		table && /^\| / && ($2 in fresh) { print fresh[$2]; delete fresh[$2]; next }
		table && /^<!-- end of / { rest() ; table = 0 }
		{ print }
		function rest(  i) { for (i = 1; i <= n; i++) if (order[i] in fresh) print fresh[order[i]] }' docs/agents.md >docs/agents.md.new
	mv docs/agents.md.new docs/agents.md
	cat "$1"
}

case ${1:-} in
install) shift; install "$@" ;;
drive) PAWL_AGENTS=$dir PAWL_AGENT=${2:-} $go test ./agent/externaltest -run TestLive -count=1 -timeout 30m -v ;;
run)
	rows=$(mktemp)
	plans=$(mktemp)
	trap 'rm -f "$rows" "$plans"' EXIT
	PAWL_AGENTS_REPORT=$rows PAWL_PLANNERS_REPORT=$plans $go test ./cmd/pawl -run '^(TestAgents|TestPlanners)$' -agents "${2:-all}" -count=1 -timeout 90m -v ||
		echo "some agents did not come to the end" >&2
	report "$rows" results
	report "$plans" plans
	;;
missing) missing ;;
ready) ready ;;
tested) echo "$tested" ;;
list) echo "$packages" | sed '/^$/d' ;;
*)
	sed -n '5,11p' "$0" | sed 's/^# \{0,1\}//'
	exit 2
	;;
esac
