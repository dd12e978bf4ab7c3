#!/usr/bin/env bash
# A throw-away PostgreSQL for the benchmarks, which compare with a queue that lives in one.
#
#   scripts/postgres.sh install       install the server where it is missing
#   scripts/postgres.sh serve [DIR]   install it, start one in a temporary folder in DIR (else in that for temporary files), print
#                                     its DSN and serve until standard input ends or a signal comes; then the folder is gone
#
# The server runs as an unprivileged user, listens on a socket in its folder only, and flushes every commit to the disk. A thing
# that cannot be had fails with one line.
set -euo pipefail

fail() { echo "postgres: $*" >&2; exit 1; }

# find_server sets bin to the folder with the server's programs; only some systems have them on PATH.
find_server() {
	local p
	for p in "$(command -v initdb 2>/dev/null || true)" "$(ls -d /usr/lib/postgresql/*/bin/initdb 2>/dev/null | sort -V | tail -1)"; do
		[ -n "$p" ] || continue
		bin=$(dirname "$(readlink -f "$p")")
		[ -x "$bin/postgres" ] && [ -x "$bin/pg_isready" ] && return 0
	done
	return 1
}

install_server() {
	find_server && return 0
	command -v apt-get >/dev/null 2>&1 || fail "the server is missing; install PostgreSQL with your system's package manager"
	local sudo=""
	if [ "$(id -u)" != 0 ]; then
		command -v sudo >/dev/null 2>&1 || fail "the server is missing; run as root: apt-get install postgresql"
		sudo="sudo -n"
	fi
	echo "postgres: installing postgresql" >&2
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q postgresql >/dev/null 2>&1 ||
		{ $sudo apt-get update -q >/dev/null 2>&1 && $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q postgresql >/dev/null 2>&1; } ||
		fail "postgresql could not be installed; run as root: apt-get update && apt-get install postgresql"
	find_server || fail "postgresql is installed, but initdb and postgres are not where they are looked for: PATH, /usr/lib/postgresql/*/bin"
}

# The server refuses to run as root.
as=()
drop_root() {
	[ "$(id -u)" = 0 ] || return 0
	command -v setpriv >/dev/null 2>&1 || fail "setpriv is missing; it is part of util-linux"
	local user=postgres
	id "$user" >/dev/null 2>&1 || user=nobody
	chown "$user" "$dir"
	as=(setpriv "--reuid=$user" "--regid=$(id -g "$user")" --clear-groups)
}

dir=
server=
finish() {
	trap - EXIT INT TERM
	if [ -n "$server" ]; then
		kill -INT "$server" 2>/dev/null || true # a fast shutdown
		wait "$server" 2>/dev/null || true
	fi
	[ -z "$dir" ] || rm -rf "$dir"
}

serve() {
	local log
	exec 3<&0
	trap finish EXIT
	trap 'exit 1' INT TERM
	dir=$(mktemp -d "${1:-${TMPDIR:-/tmp}}/pawl-postgres-XXXXXX" 2>/dev/null) || fail "no folder could be made in ${1:-${TMPDIR:-/tmp}}"
	dir=$(readlink -f "$dir")
	install_server # after that, so that a folder that is of no use costs no installation
	log=$dir/log
	drop_root
	cd "$dir"
	export LC_ALL=C
	"${as[@]}" "$bin/initdb" -D "$dir/data" -U bench -A trust -E UTF8 --locale=C -N >/dev/null 2>"$dir/initdb.log" ||
		fail "initdb failed: $(tail -1 "$dir/initdb.log")"
	"${as[@]}" "$bin/postgres" -D "$dir/data" -k "$dir" -c listen_addresses= -c fsync=on -c synchronous_commit=on \
		-c shared_buffers=256MB -c max_wal_size=4GB </dev/null >"$log" 2>&1 3<&- &
	server=$!
	for _ in $(seq 150); do
		"$bin/pg_isready" -q -h "$dir" -U bench && break
		kill -0 "$server" 2>/dev/null || fail "the server did not start: $(tail -1 "$log")"
		sleep 0.1
	done
	"$bin/pg_isready" -q -h "$dir" -U bench || fail "the server did not answer within 15 s: $(tail -1 "$log")"
	echo "host=$dir user=bench dbname=postgres"
	cat <&3 >/dev/null &
	wait $!
}

case ${1:-} in
install) install_server ;;
serve) serve "${2:-}" ;;
*)
	sed -n '2,9p' "$0" | sed 's/^# \{0,1\}//'
	exit 2
	;;
esac
