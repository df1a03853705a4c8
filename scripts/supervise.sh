#!/bin/sh
# Keeps one role of the board in this directory working, in one terminal.
#
#   scripts/supervise.sh ROLE [--dir DIR]
#
# A goal for it is put on the board with `orch run --later "…"`. It needs one of
# these loops for each role of its profile:
#
#   task   perceiver planner executor agent-validator meta-validator ggs
#   code   perceiver planner coder code-reviewer meta-validator ggs integrate
#
# and may have memory and auditor. There may be several of coder, code-reviewer
# and executor.
#
# It is a loop around `orch step ROLE` and its exit codes:
#   0    one activation is done: look for the next at once, or leave when no goal is open
#   42   nothing is due now, or the step stopped cleanly: again in 2 s
#   2    usage or configuration: leave, the message says what to do
#   129… somebody killed it: again in 2 s
#   else a crash: again after 5 s, doubling up to 5 min
# ggs, integrate, memory and auditor are residents: they are started again
# whenever they end, and end with the last goal.
#
# ORCH names the program, `orch` on PATH by default; PAUSE is the seconds between
# two looks, 2 by default. Ctrl-C ends the loop and the step.
set -u
role=${1:-}
dir=.
[ "${2:-}" = --dir ] && dir=${3:-.}
orch=${ORCH:-orch}
pause=${PAUSE:-2}
resident=no
case $role in
  perceiver | planner | executor | agent-validator | meta-validator | coder | code-reviewer) start="step $role" ;;
  ggs | integrate | auditor) start=$role resident=yes ;;
  memory) start="memory serve" resident=yes ;;
  *)
    echo "error: say which role to keep working" >&2
    echo "hint: scripts/supervise.sh perceiver|planner|executor|agent-validator|meta-validator|coder|code-reviewer|ggs|integrate|memory|auditor" >&2
    exit 2
    ;;
esac
child=
watcher=
leave() {
  trap - INT TERM
  [ -n "$watcher" ] && kill -TERM "$watcher" 2>/dev/null
  [ -n "$child" ] && kill -TERM "$child" 2>/dev/null && wait "$child" 2>/dev/null
  exit 130
}
trap leave INT TERM
open_goal() { "$orch" -C "$dir" goals --open --quiet >/dev/null 2>&1; }
# A background child, so that a signal reaches this loop while it waits.
run() {
  "$@" </dev/null &
  child=$!
  wait "$child"
  code=$?
  child=
  return $code
}
pause() { run sleep "$1"; }
# A resident stays while a goal is open, and is ended after the last one.
watch() {
  while kill -0 "$1" 2>/dev/null && open_goal; do
    sleep "$pause"
  done
  kill -TERM "$1" 2>/dev/null
}
backoff=5
while :; do
  if [ "$resident" = yes ]; then
    open_goal || exit 0
    # $start is one of the words above, meant to be split.
    # shellcheck disable=SC2086
    "$orch" -C "$dir" $start </dev/null &
    child=$!
    watch "$child" &
    watcher=$!
    wait "$child"
    code=$?
    child=
    kill -TERM "$watcher" 2>/dev/null
    wait "$watcher" 2>/dev/null
    watcher=
    [ $code = 0 ] && code=42 # it ended: again, if a goal is open
  else
    # shellcheck disable=SC2086
    run "$orch" -C "$dir" $start
    code=$?
  fi
  case $code in
    0) backoff=5; open_goal || exit 0 ;;
    42) backoff=5; open_goal || exit 0; pause "$pause" ;;
    2) exit 2 ;;
    129 | 13? | 14? | 15?) backoff=5; open_goal || exit 0; pause "$pause" ;;
    *)
      echo "supervise: $role ended with $code, again in ${backoff}s" >&2
      pause $backoff
      backoff=$((backoff * 2))
      [ $backoff -gt 300 ] && backoff=300
      ;;
  esac
done
