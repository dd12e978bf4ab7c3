#!/usr/bin/env bash
# Installs pawl with its manual pages and the completions of shells, or takes away again exactly what it installed, and says what this
# machine still needs for it. Nothing of the system is changed beside these files: where AppArmor keeps programs from making namespaces,
# the profile that lets pawl is shown, with the command that loads it.
#
#   scripts/install.sh PROGRAM        into $PREFIX, which is ~/.local, or /usr/local for root
#   scripts/install.sh --uninstall    out of $PREFIX
#
# What was installed stands in $PREFIX/share/pawl/installed: a line "CHECKSUM SIZE FILE" for each file, "dir FOLDER" for each folder made.
set -euo pipefail
program=${1:?"scripts/install.sh PROGRAM, or --uninstall"}
if [ -z "${PREFIX:-}" ]; then
	if [ "$(id -u)" = 0 ]; then PREFIX=/usr/local; else PREFIX=${HOME:?"set HOME or PREFIX"}/.local; fi
fi
list=share/pawl/installed

sum() { cksum <"$1" | { read -r crc size; echo "$crc $size"; }; }

# inside says whether a name out of the list is one below $PREFIX that this script may have written.
inside() { case "/$1/" in *//* | */../* | */./* | /-*) return 1 ;; esac }

# remove takes away what a list names, except the files that another one names again. A file that is not as it was installed stays.
remove() { # remove LIST [NEW LIST]
	local crc size file again=${2:-/dev/null}
	while read -r crc size file; do
		if [ "$crc" = dir ] || ! inside "$file" || [ ! -f "$PREFIX/$file" ] || cut -d' ' -f3- <"$again" | grep -qxF -- "$file"; then
			continue
		elif [ "$(sum "$PREFIX/$file")" = "$crc $size" ]; then
			rm -f -- "$PREFIX/$file"
		else
			echo "changed since it was installed, and left: $PREFIX/$file"
		fi
	done <"$1"
}

if [ "$program" = --uninstall ]; then
	if [ ! -f "$PREFIX/$list" ]; then
		echo "nothing that this script installed is in $PREFIX ($PREFIX/$list is not there); elsewhere: PREFIX=… make uninstall" >&2
		exit 1
	fi
	known=$(mktemp)
	trap 'rm -f "$known"' EXIT
	cp "$PREFIX/$list" "$known"
	remove "$known"
	rm -f "$PREFIX/$list"
	# The folders that were made go as well where nothing else lies in them, the inner ones first.
	sed -n 's/^dir //p' "$known" | sort -r | while read -r folder; do
		if inside "$folder"; then rmdir -- "$PREFIX/$folder" 2>/dev/null || true; fi
	done
	echo "uninstalled from $PREFIX; your settings, logins and workspaces are as they were"
	exit
fi

staged=$(mktemp -d)
trap 'rm -rf "$staged"' EXIT
put() { mkdir -p "$staged/$(dirname "$1")" && cat >"$staged/$1"; }
mkdir -p "$staged/bin"
install -m 755 "$program" "$staged/bin/pawl"
# They are made before anything is put in place, so that a program that does not run here leaves what there was.
"$staged/bin/pawl" completion bash | put share/bash-completion/completions/pawl
"$staged/bin/pawl" completion zsh | put share/zsh/site-functions/_pawl
"$staged/bin/pawl" completion fish | put share/fish/vendor_completions.d/pawl.fish
"$staged/bin/pawl" man "$staged/share/man/man1" --lang en >/dev/null
"$staged/bin/pawl" man "$staged/share/man/zh_CN/man1" --lang zh-CN >/dev/null

(cd "$staged" && find . -type f | sed 's|^\./||' | sort) >"$staged/files"
: >"$staged/list"
while read -r file; do
	folder=$(dirname "$file") made=
	while [ "$folder" != . ] && [ ! -d "$PREFIX/$folder" ]; do
		made="dir $folder"$'\n'$made
		folder=$(dirname "$folder")
	done
	printf %s "$made" >>"$staged/list"
	mkdir -p "$PREFIX/$(dirname "$file")"
	# A program that runs cannot be written over, but it can be replaced.
	mode=644
	if [ "$file" = bin/pawl ]; then mode=755; fi
	install -m "$mode" "$staged/$file" "$PREFIX/$file.new.$$"
	mv -f "$PREFIX/$file.new.$$" "$PREFIX/$file"
	echo "$(sum "$staged/$file") $file" >>"$staged/list"
done < <(grep -vx files "$staged/files")
if [ ! -d "$PREFIX/share/pawl" ]; then echo "dir share/pawl" >>"$staged/list"; fi
if [ -f "$PREFIX/$list" ]; then
	remove "$PREFIX/$list" "$staged/list" # what an older pawl had and this one has not
	sed -n '/^dir /p' "$PREFIX/$list" >>"$staged/list"
fi
mkdir -p "$PREFIX/share/pawl"
install -m 644 "$staged/list" "$PREFIX/$list.new.$$"
mv -f "$PREFIX/$list.new.$$" "$PREFIX/$list"

to=$PREFIX/bin/pawl
echo "installed: $to"
echo "with manual pages (man pawl) and completions for bash, zsh and fish; take all of it away with: make uninstall"
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
