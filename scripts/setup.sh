#!/usr/bin/env bash
# Installs what the tests need beside Go, git and make. A thing that cannot be installed fails with one line.
set -euo pipefail

need() { # program, Debian package
	command -v "$1" >/dev/null 2>&1 && return 0
	if ! command -v apt-get >/dev/null 2>&1; then
		echo "setup: $1 is missing; install the package $2 with your system's package manager" >&2
		exit 1
	fi
	local sudo=""
	if [ "$(id -u)" != 0 ]; then
		sudo="sudo -n"
		command -v sudo >/dev/null 2>&1 || { echo "setup: $1 is missing; run as root: apt-get install $2" >&2; exit 1; }
	fi
	echo "setup: installing $2"
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q "$2" >/dev/null 2>&1 ||
		{ $sudo apt-get update -q >/dev/null 2>&1 && $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q "$2" >/dev/null 2>&1; } ||
		{ echo "setup: $2 could not be installed; run as root: apt-get update && apt-get install $2" >&2; exit 1; }
}

for p in go git make; do
	command -v "$p" >/dev/null 2>&1 || { echo "setup: $p is missing; pawl is built and tested with Go 1.26, git and make" >&2; exit 1; }
done
need bwrap bubblewrap
need strace strace
need npm npm
