#!/bin/sh
# Tries real agent programs end to end against a scripted model server: each in
# a network namespace that has only loopback, with an empty environment, an
# empty home and a dummy key, so that nothing goes out and nothing is picked up.
#
#   scripts/test-clis.sh [NAME[:acp]…]     default: every preset, over exec and ACP
#
# ORCH       the program under test (make test-clis builds it)
# CLIS_DIR   where the programs are installed; default: the user's cache
# CARDS      if set, the file that the capability cards are written to
#
# Needs node, npm and the right to make a network namespace (root, or user
# namespaces). It installs once, several GB. Not part of make test.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
orch=${ORCH:?set ORCH to the program under test, or use make test-clis}
dir=${CLIS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/orch-clis}
cards=${CARDS:-}

case $(uname -s) in
Linux) ;;
*) echo "error: network namespaces are needed, so this runs on Linux only" >&2; exit 2 ;;
esac
if unshare -n true 2>/dev/null; then
	alone="unshare -n"
elif unshare -rn true 2>/dev/null; then
	alone="unshare -rn"
else
	echo "error: no network namespace may be made here" >&2
	echo "hint: run as root, or allow unprivileged user namespaces" >&2
	exit 2
fi

mkdir -p "$dir"
if ! cmp -s "$here/clis/package.json" "$dir/.installed"; then
	echo "installing the pinned programs into $dir"
	cp "$here/clis/package.json" "$dir/package.json"
	(cd "$dir" && npm install --no-audit --no-fund --loglevel=error)
	cp "$here/clis/package.json" "$dir/.installed"
fi
bin=$dir/node_modules
path=$bin/node/bin:$bin/.bin:/usr/bin:/bin

names=$*
[ -n "$names" ] || names="claude codex gemini opencode qwen copilot pi claude:acp codex:acp gemini:acp opencode:acp qwen:acp copilot:acp"
[ -z "$cards" ] || : >"$cards"
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT INT TERM
bad=
for name in $names; do
	acp=
	case $name in *:acp) acp=--acp ;; esac
	echo "== $name"
	how=${cards:+--markdown}
	if $alone sh -c 'ip link set lo up && exec "$@"' sh \
		env -i PATH="$path" HOME="$home" "$orch" agent test "${name%:acp}" $acp $how >"$home/out" 2>"$home/err"; then
		:
	else
		bad="$bad $name"
	fi
	cat "$home/out"
	[ ! -s "$home/err" ] || cat "$home/err" >&2
	if [ -n "$cards" ]; then
		cat "$home/out" >>"$cards"
		echo >>"$cards"
	fi
done
if [ -n "$bad" ]; then
	echo "error: did not pass:$bad" >&2
	exit 1
fi
echo "all passed"
