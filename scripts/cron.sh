#!/bin/sh
# Nightly lines of a project in your crontab: the memory is consolidated
# (orch memory dream --once), and an hour later the log is audited (orch audit --report).
#
#   scripts/cron.sh install [--project DIR] [--orch FILE] [--yes]
#   scripts/cron.sh show    [--project DIR] [--orch FILE]
#   scripts/cron.sh remove  [--project DIR] [--yes]
#
# The lines are shown before the crontab is changed. What else is in it stays as
# it is, byte for byte; each project has a block of its own between two comments.
# What the commands print is in .orch/run/cron-*.log until the next night; what
# fails, or finds something, is printed too, which cron sends by mail.
#
# Exit: 0 done, 1 it failed, 2 a mistake in the command line, 3 not confirmed.
set -u
LC_ALL=C # bytes are bytes, and crontab's words are known
export LC_ALL

fail() { # code, what, hint
  echo "error: $2" >&2
  [ -z "${3:-}" ] || echo "hint: $3" >&2
  exit "$1"
}

usage="scripts/cron.sh install|show|remove [--project DIR] [--orch FILE] [--yes]"
verb=${1:-}
case $verb in
  install | show | remove) shift ;;
  *) fail 2 "say what to do" "$usage" ;;
esac
project=. orch=${ORCH:-} yes=no
while [ $# -gt 0 ]; do
  case $1 in
    --project | --orch) [ $# -ge 2 ] || fail 2 "$1 needs a value" "$usage" ;;
  esac
  case $1 in
    --project) project=$2 && shift ;;
    --orch) orch=$2 && shift ;;
    --yes) yes=yes ;;
    *) fail 2 "there is no argument $1" "$usage" ;;
  esac
  shift
done

# absolute prints a path that holds from everywhere; the sign behind it keeps a
# line break at its end from being lost.
absolute() { # file or directory that exists
  if [ -d "$1" ]; then
    (CDPATH='' cd -- "$1" && pwd -P)
  else
    dir=$(CDPATH='' cd -- "$(dirname -- "$1")" && pwd -P) && printf '%s/%s\n' "${dir%/}" "$(basename -- "$1")"
  fi
}

# inline refuses what no line of a crontab can say: a line break ends it, and what
# a backslash means differs from one cron to another.
inline() { # path
  case $1 in
    *'
'* | *\\*) fail 2 "a line of a crontab can not name $1" "give it a path without line breaks and backslashes" ;;
  esac
}

# quoted makes one word of the shell; a bare % would be a line break to cron.
quoted() { printf '%s' "$1" | sed -e "s/'/'\\\\''/g" -e 's/%/\\%/g' -e "s/^/'/" -e "s/\$/'/"; }

inline "$project"
if [ -d "$project" ]; then
  project=$(absolute "$project") || fail 1 "the project can not be entered" ""
elif [ "$verb" = remove ] && [ "${project#/}" != "$project" ]; then
  : # it is gone, and its lines shall go as well
else
  fail 2 "there is no directory $project" "--project DIR"
fi
inline "$project"
begin="# orch nightly, begin: $project"
end="# orch nightly, end: $project"

block() {
  [ -d "$project/.orch" ] || fail 2 "$project is no project of orch" "orch init makes it one, orch run as well"
  [ -n "$orch" ] || orch=$(command -v orch) || orch=$(dirname -- "$0")/../bin/orch
  [ -f "$orch" ] && [ -x "$orch" ] || fail 2 "there is no program $orch" "make build, or --orch FILE"
  orch=$(absolute "$orch") || exit 1
  inline "$orch"
  # Cron gives a home and hardly more. Where what is trusted is kept elsewhere,
  # the line says so.
  env=
  if [ -n "${XDG_STATE_HOME:-}" ]; then
    inline "$XDG_STATE_HOME"
    env="XDG_STATE_HOME=$(quoted "$XDG_STATE_HOME") "
  fi
  # A minute of its own for each project, the same one each time.
  minute=$(printf '%s' "$project" | cksum | awk '{print $1 % 60}')
  program="$env$(quoted "$orch") -C $(quoted "$project")"
  dream=$(quoted "$project/.orch/run/cron-dream.log") audit=$(quoted "$project/.orch/run/cron-audit.log")
  folder="mkdir -p $(quoted "$project/.orch/run") && " # run/ may be removed at any time
  dream="$minute 3 * * * $folder$program dream --once >$dream 2>&1 || cat $dream"
  audit="$minute 4 * * * $folder$program audit --report >$audit 2>&1 || cat $audit"
  # Some crons cut what is longer, others refuse it.
  [ ${#audit} -lt 990 ] || fail 2 "a line of a crontab has no room for these paths" "a shorter path to the project or the program"
  printf '%s\n' "$begin" "$dream" "$audit" "$end"
}

# changed is a crontab whose block of this project is the one in $work/lines, at
# the place it had, or at the end.
changed() { # file
  BEGIN_LINE=$begin END_LINE=$end LINES_FILE=$work/lines awk '
    function block(line) { while ((getline line < ENVIRON["LINES_FILE"]) > 0) print line; had = 1 }
    $0 == ENVIRON["BEGIN_LINE"] { if (within || had) exit 1; within = 1; block(); next }
    within && $0 == ENVIRON["END_LINE"] { within = 0; next }
    !within { print }
    END { if (within) exit 1; if (!had) block() }' "$1"
}

work=$(mktemp -d "${TMPDIR:-/tmp}/orch-cron.XXXXXX") || exit 1
: >"$work/lines"
lock=
trap 'rm -rf "$work"; [ -z "$lock" ] || rmdir "$lock" 2>/dev/null' EXIT
trap 'exit 130' INT TERM

lines=
if [ "$verb" != remove ]; then
  lines=$(block) || exit $?
fi
if ! command -v crontab >/dev/null 2>&1; then
  [ "$verb" = remove ] || printf '%s\n' "$lines"
  [ "$verb" != show ] || exit 0
  fail 1 "there is no crontab command here, so nothing was changed" "install cron (Debian: apt-get install cron), or have another scheduler run the commands of the lines above"
fi

# Two that change the crontab at once would lose what one of them wrote.
lock=${TMPDIR:-/tmp}/orch-cron-$(id -u).lock tries=0
until mkdir "$lock" 2>/dev/null; do
  tries=$((tries + 1))
  [ $tries -lt 20 ] || { held=$lock lock=; fail 1 "another cron.sh is changing the crontab" "wait for it; if there is none: rmdir $held"; }
  sleep 1
done

# Having no crontab is told apart from one that can not be read, which must not
# be replaced.
if ! crontab -l >"$work/now" 2>"$work/said"; then
  grep -qi 'no crontab for' "$work/said" || fail 1 "the crontab can not be read: $(cat "$work/said")" ""
  : >"$work/now"
fi
[ -z "$lines" ] || printf '%s\n' "$lines" >"$work/lines"
changed "$work/now" >"$work/then" || fail 1 "the block of $project in the crontab is damaged, nothing was changed" "crontab -e, and take out what is left from '$begin' on"

if cmp -s "$work/now" "$work/then"; then
  case $verb in
    remove) echo "there are no lines of $project in the crontab" ;;
    *) printf '%s\n' "$lines" && echo "these lines are in the crontab" ;;
  esac
  exit 0
fi
case $verb in
  show) printf '%s\n' "$lines" && echo "these lines are not in the crontab; scripts/cron.sh install puts them there" && exit 0 ;;
  install) echo "to be in your crontab, with all that is there now:" && printf '%s\n' "$lines" ;;
  remove) echo "to be taken out of your crontab:" && diff "$work/now" "$work/then" | sed -n 's/^< //p' ;;
esac
if [ $yes = no ]; then
  [ -t 0 ] || fail 3 "nobody is there to confirm it" "--yes"
  printf 'change the crontab? [y/N] '
  read -r answer || answer=
  case $answer in
    y | Y | yes) ;;
    *) fail 3 "not confirmed, nothing was changed" "" ;;
  esac
fi
if [ -s "$work/then" ]; then
  crontab "$work/then"
else
  crontab -r
fi || fail 1 "crontab refused the lines, nothing was changed" ""
echo "done"
