#!/bin/sh
# Shows on a copy of an example project what is learned from one run to the
# next: the same words are given several times. Nothing outside a temporary
# directory is touched; it is kept, so that the record can be looked at.
set -eu
orch=${ORCH:-orch}
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/orch-memory.XXXXXX")
cp -R "$here/examples/learns" "$work/learns"
cd "$work/learns"

title() { printf '\n━━━ %s\n' "$*"; }

publish() { # a run, of which only plans and the result are shown
  rm -f page.html
  "$orch" run "publish the page" | grep -E '^(plan|controller|result)|•|memory:'
}

want() { # text a file must have
  grep -q "$1" "$2" || { echo "error: expected to see \"$1\""; exit 1; }
}

title "the first run: the quick way does not do, a second plan is needed"
publish | tee run.txt
want '^plan 2' run.txt
want '1 replan\|change_approach→accept' run.txt

title "the second run: planned right at once"
publish | tee run.txt
if grep -q '^plan 2' run.txt; then echo "error: nothing was learned"; exit 1; fi

title "why: orch memory why \"publish the page\""
"$orch" memory why "publish the page" | tee why.txt
want 'Avoid    quick on page.html' why.txt
want 'Exploit  thorough on page.html' why.txt

title "six successes at f 0.9 are attention 5.4 and decision +5.4: a rule (level C)"
for n in 3 4 5 6; do publish >run.txt; done
"$orch" memory ls --level C | tee rules.txt
want 'thorough on page.html' rules.txt

title "the thorough way breaks: a plan that follows the rule fails on it, and the rule loses its trust"
cp tools/quick.sh tools/thorough.sh
publish
"$orch" log --type NegativeFeedback
"$orch" memory ls --level K | tee rules.txt
want 'thorough on page.html' rules.txt

title "200 days on it has faded, and is forgotten"
"$orch" memory query "quick on page.html" "thorough on page.html" --as-of 200d | tee why.txt
want 'Ignore   quick on page.html' why.txt
"$orch" dream --once --as-of 200d
"$orch" memory ls --as-of 200d

cat <<EOF

━━━ where to look
  cd $work/learns
  $orch log --type Megram        what was learned, in the log
  $orch memory ls --retired      what the index makes of it
  $orch memory export            .orch/memory.yaml, for git diff
EOF
