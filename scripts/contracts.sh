#!/bin/sh
# Installs what others publish of their APIs, to which tests hold pawl's requests, below .tools/contracts.
#
#   scripts/contracts.sh ready     install it where it is missing, or say in one line why not
set -eu
cd "$(dirname "$0")/.."
dir=$PWD/.tools/contracts
package=@octokit/openapi@23.0.2

[ "$(cat "$dir/.version" 2>/dev/null || true)" != "$package" ] || exit 0
command -v npm >/dev/null || { echo "left out: GitHub's contract (npm is not installed)"; exit 1; }
echo "contracts: installing the npm package $package, 13 MB to keep in .tools/contracts"
mkdir -p "$dir/work"
timeout 300 npm install --prefix "$dir/work" --no-audit --no-fund --no-save "$package" >"$dir/install.log" 2>&1 </dev/null || {
	echo "left out: GitHub's contract ($package could not be installed; see .tools/contracts/install.log)"
	exit 1
}
# Of all that the package holds, this is what is read.
mv "$dir/work/node_modules/@octokit/openapi/generated/api.github.com.json" "$dir/"
rm -rf "$dir/work"
echo "$package" >"$dir/.version"
