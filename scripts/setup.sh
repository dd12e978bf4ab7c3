#!/usr/bin/env bash
# Installs what the tests need beside Go, git and make, and names it, with its size, before it fetches any of it. What is there
# is left alone and not spoken of. Nobody is asked for a password.
#
#   scripts/setup.sh            install; ends with 1 when a program is left out, with 2 when nothing can be tested at all
#   scripts/setup.sh test       the same, and name the coding agents too, which make test has scripts/agents.sh install
#   scripts/setup.sh browser    the same, with a browser for the tests of the dashboard's pages, and axe, which says who cannot use them
#   scripts/setup.sh missing    print the programs that are missing
set -euo pipefail
cd "$(dirname "$0")/.."
read -ra go <<<"${GO:-go}"

# What the README promises to test and Go cannot bring: a program, its Debian package, what it is for, which tests need it, and
# the size of the package, with what it needs itself, as measured on Debian 12. That is said only where apt does not know it.
programs='bwrap|bubblewrap|one of the two ways to build walls is tested with it|tests of bubblewrap|50 kB to fetch, 130 kB on disk
strace|strace|it makes the disk fail under the tests of the store|tests of a disk that fails|1.4 MB to fetch, 3.1 MB on disk
pytest|python3-pytest|projects in Python are tested with it|tests of pytest|360 kB to fetch, 1.7 MB on disk
dbus-daemon|dbus|messages are shown on a desktop that the tests have|tests of notifications on a desktop|1.1 MB to fetch, 2.7 MB on disk
dbusmock|python3-dbusmock|it plays that desktop|tests of notifications on a desktop|5.0 MB to fetch, 22 MB on disk
cargo|cargo|projects in Rust are tested with it|tests of Rust|60 MB to fetch, 290 MB on disk
ssh-keygen|openssh-client|signatures of approvals are verified with it|tests of SSH keys|1.0 MB to fetch, 5.9 MB on disk
tmux|tmux|nothing that runs in it may count as a person|tests of terminals|700 kB to fetch, 1.6 MB on disk'

[ "${1:-}" != browser ] || programs+='
chromium|chromium|every page of the dashboard is looked at in it|tests of pages in a browser|80 MB to fetch, 300 MB on disk
font|fonts-droid-fallback|the pages in Chinese are drawn with it|tests of pages in a browser|1.8 MB to fetch, 7.3 MB on disk'

# axe looks at every page of the dashboard. It comes from npm into .tools/axe.
axe=4.14.1

axe_missing() {
	[ "$goal" = browser ] && ! grep -qsF "\"version\": \"$axe\"" .tools/axe/node_modules/axe-core/package.json
}

stop() { echo "setup: $*" >&2; exit 2; }

# there reports whether a program is there. dbusmock is a module of the Python of the system, font one that has Chinese.
there() {
	if [ "$1" = dbusmock ]; then
		"${SYSTEM_PYTHON:-/usr/bin/python3}" -c 'import dbusmock' >/dev/null 2>&1
	elif [ "$1" = font ]; then
		[ -n "$(fc-list :lang=zh 2>/dev/null)" ]
	else
		command -v "$1" >/dev/null 2>&1
	fi
}

missing() {
	local program rest
	while IFS='|' read -r program rest; do
		there "$program" || echo "$program|$rest"
	done <<<"$programs"
}

as_root=()
apt_get() {
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -q -y -o DPkg::Lock::Timeout=120 "$@" </dev/null 2>&1
}

# may_install reports whether there is apt on this machine and it installs without a question.
may_install() {
	command -v apt-get >/dev/null 2>&1 || return 1
	[ "$(id -u)" != 0 ] || return 0
	as_root=(sudo -n)
	command -v sudo >/dev/null 2>&1 && sudo -n true >/dev/null 2>&1
}

# measure PACKAGE prints what apt would fetch for it, and fails where apt's lists do not tell.
measure() {
	local all
	all=$(LC_ALL=C apt-get install -s --no-install-recommends "$1" 2>/dev/null | sed -nE 's/^Inst ([^ ]+)( \[[^]]*\])? \(([^ ]+).*/\1=\3/p')
	[ -n "$all" ] || return 1
	# shellcheck disable=SC2086 # one word for each package
	LC_ALL=C apt-cache show $all 2>/dev/null | awk -v asked="$1" '
		function size(kb) { return kb < 1000 ? sprintf("%.0f kB", kb) : sprintf("%.1f MB", kb / 1000) }
		$1 == "Package:" && $2 != asked { more = more (more ? ", " : ", with ") $2 }
		$1 == "Size:" { fetch += $2 / 1000 }
		$1 == "Installed-Size:" { disk += $2 * 1.024 }
		END { if (!fetch) exit 1; print "a Debian package" more ", " size(fetch) " to fetch, " size(disk) " on disk" }'
}

# modules_missing reports whether go would have to fetch something. Code that does not compile is for the tests to tell.
modules_missing() {
	local module said
	for module in . bench internal/contract; do
		said=$(cd "$module" && GOPROXY=off "${go[@]}" list -deps -test ./... 2>&1 >/dev/null) || true
		[[ $said != *GOPROXY=off* && $said != *"toolchain not available"* ]] || return 0
	done
	return 1
}

fetch_modules() {
	local module said=
	echo "setup: fetching the Go modules"
	for module in . bench internal/contract; do
		said=$(cd "$module" && "${go[@]}" list -deps -test ./... 2>&1 >/dev/null) || break
	done
	! modules_missing || stop "the Go modules could not be fetched: $(tail -n 1 <<<"$said")"
}

# fetch_package PACKAGE installs it, or leaves in said why it could not. Lists that are old name files that are gone from the
# servers, so they are fetched again once.
fetch_package() {
	if [ "$lists" != missing ]; then
		echo "setup: installing $1"
		said=$(apt_get install --no-install-recommends "$1") && return 0
		[ -z "$lists" ] || return 1
	fi
	echo "setup: fetching apt's lists of packages, about 10 MB"
	lists=fetched
	said=$(apt_get update) || return 1
	fetch_package "$1"
}

goal=${1:-setup}
wanted=$(missing)
if [ "$goal" = missing ]; then
	[ -z "$wanted" ] || cut -d '|' -f 1 <<<"$wanted"
	exit 0
fi
for p in "${go[0]}" git make; do
	command -v "$p" >/dev/null 2>&1 || stop "$p is missing; pawl is built and tested with Go 1.26, git and make"
done

# First what is going to be installed is named. What cannot be is not announced, but named as left out below.
rows=
row() { printf -v rows '%s  %-17s %s\n' "$rows" "$1" "$2"; }
apt=
lists=
if [ -n "$wanted" ] && may_install; then
	apt=yes
	while IFS='|' read -r _ package use _ size; do
		about=$(measure "$package") || about="a Debian package, about $size" lists=missing
		row "$package" "$about: $use"
	done <<<"$wanted"
	[ -z "$lists" ] || row "apt's lists" "about 10 MB to fetch, 30 MB on disk: apt does not know all of these packages yet"
fi
GOPROXY=off "${go[@]}" version >/dev/null 2>&1 ||
	row "Go toolchain" "about 70 MB to fetch, 280 MB in the module cache (GOMODCACHE): go.mod asks for a newer Go than this one"
modules=
if modules_missing; then
	modules=missing
	row "Go modules" "about 82 MB to fetch, 460 MB in the module cache (GOMODCACHE): pawl and its tests are built of them"
fi
[ "$goal" != test ] || rows+=$(scripts/agents.sh missing)
! axe_missing || row axe-core "the npm package, about 800 kB to fetch, 3.5 MB in .tools/axe: no page of the dashboard may break its rules"
[ -z "$rows" ] || printf 'make %s installs, because it is missing here:\n%s\n' "$goal" "${rows%$'\n'}"

# Then it is installed.
[ -z "$modules" ] || fetch_modules
left=0
while IFS='|' read -r program package _ tests _; do
	[ -n "$program" ] || break
	if [ -n "$apt" ]; then
		if fetch_package "$package"; then
			! there "$program" || continue
			why="$package is installed, but $program is not on PATH"
		else
			why="$package could not be installed: $(grep -m 1 '^E: ' <<<"$said" || tail -n 1 <<<"$said"); try as root: apt-get install $package"
		fi
	elif command -v apt-get >/dev/null 2>&1; then
		why="$program is missing; install it as root: apt-get install $package"
	else
		why="$program is missing; install $package with the package manager of this system"
	fi
	echo "left out: $tests ($why)"
	left=1
done <<<"$wanted"
if axe_missing; then
	if ! command -v npm >/dev/null 2>&1; then
		echo "left out: the rules of accessibility (npm is missing, from whose registry axe-core comes)"
		left=1
	elif ! said=$(npm install --prefix .tools/axe --no-audit --no-fund --no-save "axe-core@$axe" 2>&1 </dev/null); then
		echo "left out: the rules of accessibility (axe-core could not be installed: $(tail -n 1 <<<"$said"))"
		left=1
	fi
fi
exit "$left"
