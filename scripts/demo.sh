#!/bin/sh
# Shows the main job on copies of the example projects: one that needs a new
# plan, and one that must be given up. Nothing outside a temporary directory is
# touched; it is kept, so that the record can be looked at.
set -eu
orch=${ORCH:-orch}
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/orch-demo.XXXXXX")
failed=0
# The demo shows the playbooks: no model or agent that happens to be here is asked.
export ORCH_DISCOVER=off

show() { # name, expected exit code, words
  name=$1 want=$2
  shift 2
  cp -R "$here/examples/$name" "$work/$name"
  echo
  echo "━━━ $name: orch run \"$*\""
  code=0
  (cd "$work/$name" && "$orch" run "$*") || code=$?
  if [ "$code" -ne "$want" ]; then
    echo "error: exit $code, expected $want"
    failed=1
  else
    echo "exit code   $code, as it should be"
  fi
  (cd "$work/$name" && "$orch" verify && "$orch" replay)
}

show needs-replan 0 make the tests pass
show cannot-be-done 3 make the tests pass

echo
echo "━━━ the transitions"
for name in needs-replan cannot-be-done; do
  echo "$name:"
  (cd "$work/$name" && "$orch" log --type PlanDirective && "$orch" log --type FinalResult)
done
cat <<EOF

━━━ where to look
  $work/needs-replan/.orch/log.jsonl      every message, hash-chained
  $work/needs-replan/.orch/state.yaml     the blackboard
  cd $work/needs-replan && $orch why make_the_tests_pass
  cd $work/cannot-be-done && $orch show 1
EOF
exit $failed
