#!/usr/bin/env bash
# Installs pawl and says what this machine still needs for it. Nothing of the system is changed beside the one program: where
# AppArmor keeps programs from making namespaces, the profile that lets pawl is shown, with the command that loads it.
#
#   scripts/install.sh PROGRAM      into $PREFIX/bin, which is ~/.local/bin, or /usr/local/bin for root
set -euo pipefail
program=${1:?"scripts/install.sh PROGRAM"}
if [ -z "${PREFIX:-}" ]; then
	if [ "$(id -u)" = 0 ]; then PREFIX=/usr/local; else PREFIX=${HOME:?"set HOME or PREFIX"}/.local; fi
fi
to=$PREFIX/bin/pawl
mkdir -p "$PREFIX/bin"
# A program that runs cannot be written over, but it can be replaced.
install -m 755 "$program" "$to.new.$$"
mv -f "$to.new.$$" "$to"
echo "installed: $to"
case ":$PATH:" in
*":$PREFIX/bin:"*) ;;
*) echo "not on your PATH yet: export PATH=\"$PREFIX/bin:\$PATH\"" ;;
esac
restricted=${PAWL_APPARMOR_SETTING:-/proc/sys/kernel/apparmor_restrict_unprivileged_userns}
if [ "$(cat "$restricted" 2>/dev/null || echo 0)" != 0 ]; then
	echo
	echo "AppArmor takes the rights in namespaces away from programs without a profile, so commands would run on the floor"
	echo "(pawl doctor names what is weaker there). This profile gives pawl its namespaces, and nothing else:"
	echo
	"$to" doctor --apparmor | sed 's/^/    /'
	echo
	echo "Load it with:"
	echo "    \"$to\" doctor --apparmor | sudo tee /etc/apparmor.d/pawl >/dev/null && sudo apparmor_parser -r /etc/apparmor.d/pawl"
fi
