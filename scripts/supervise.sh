#!/bin/sh
# Keeps one role of the board in this directory working, in one terminal.
#
#   scripts/supervise.sh ROLE [--dir DIR]
#
# A goal for it is put on the board with `orch run --later "…"`.
#
# It is a loop around `orch step ROLE` and its exit codes:
#   0   one activation is done: look for the next at once, or leave when no goal is open
#   42  nothing is due now, or the step stopped cleanly: again in 2 s
#   2   usage or configuration: leave, the message says what to do
#   else a crash: again after 5 s, doubling up to 5 min
# The roles ggs and memory are residents: they are started again whenever they end.
# ORCH names the program, `orch` on PATH by default. Ctrl-C ends the loop and the step.
set -u
role=${1:-}
dir=.
[ "${2:-}" = --dir ] && dir=${3:-.}
orch=${ORCH:-orch}
resident=no
case $role in
  perceiver | planner | executor | agent-validator | meta-validator) start="step $role" ;;
  ggs) start=ggs resident=yes ;;
  memory) start="memory serve" resident=yes ;;
  *)
    echo "error: say which role to keep working" >&2
    echo "hint: scripts/supervise.sh perceiver|planner|executor|agent-validator|meta-validator|ggs|memory" >&2
    exit 2
    ;;
esac
child=
trap 'trap - INT TERM; [ -n "$child" ] && kill -TERM "$child" 2>/dev/null && wait "$child" 2>/dev/null; exit 130' INT TERM
open_goal() { "$orch" -C "$dir" goals --open --quiet 2>/dev/null; }
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
backoff=5
if [ "$resident" = yes ]; then
  # A resident goes when the last goal has ended.
  # shellcheck disable=SC2086
  "$orch" -C "$dir" $start </dev/null &
  child=$!
  while open_goal; do
    if ! kill -0 "$child" 2>/dev/null; then
      sleep 1
      # shellcheck disable=SC2086
      "$orch" -C "$dir" $start </dev/null &
      child=$!
    fi
    sleep 1
  done
  kill -TERM "$child" 2>/dev/null
  wait "$child" 2>/dev/null
  exit 0
fi
while :; do
  # $start is one of the words above, meant to be split.
  # shellcheck disable=SC2086
  run "$orch" -C "$dir" $start
  code=$?
  case $code in
    0) backoff=5; open_goal || exit 0 ;;
    42) backoff=5; open_goal || exit 0; pause 2 ;;
    2) exit 2 ;;
    *)
      echo "supervise: $role ended with $code, again in ${backoff}s" >&2
      pause $backoff
      backoff=$((backoff * 2))
      [ $backoff -gt 300 ] && backoff=300
      ;;
  esac
done
