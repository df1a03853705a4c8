#!/bin/sh
# Opens audit reports in a headless Chromium, checks that no request leaves the
# page, and takes pictures to look at: light, dark and narrow.
#
#   scripts/report-shot.sh [DIR]       where to put them, a new directory by default
#
# ORCH names the program, CHROMIUM the browser. Not part of CI. Names are not
# resolved while it runs, so that nothing leaves the machine whatever a page asks.
set -eu
orch=${ORCH:-orch}
here=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$(mktemp -d "${TMPDIR:-/tmp}/orch-report.XXXXXX")}
mkdir -p "$out"
out=$(cd "$out" && pwd)
browser=${CHROMIUM:-}
for name in chromium chromium-browser google-chrome; do
  [ -n "$browser" ] || browser=$(command -v $name) || true
done
if [ -z "$browser" ]; then
  echo "error: there is no Chromium to open the page with" >&2
  echo "hint: Debian: apt-get install chromium; elsewhere set CHROMIUM to the program" >&2
  exit 1
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/orch-shot.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
export ORCH_DISCOVER=off XDG_STATE_HOME="$work/state"

open() { # page, name of the picture, width, height, more flags
  url=$1 name=$2 size=$3,$4
  shift 4
  rm -rf "$work/profile"
  timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update \
    --disable-sync --disable-default-apps --no-first-run --no-default-browser-check --hide-scrollbars \
    --host-resolver-rules='MAP * ~NOTFOUND' --user-data-dir="$work/profile" --log-net-log="$work/net.json" \
    --virtual-time-budget=3000 --window-size="$size" --screenshot="$out/$name.png" "$@" "$url" >"$work/said" 2>&1 || {
    cat "$work/said" >&2
    exit 1
  }
  # What the browser asks by itself is known from a page that is empty.
  grep -o '"url":"[a-z]*://[^/"?]*' "$work/net.json" | sed 's/^"url":"//' | sort -u >"$work/hosts"
}

asks() { # hosts that the page asked for beyond an empty one
  grep -v '^file:' "$work/hosts" | grep -vxFf "$work/own" || true
}

silent() { # name
  asked=$(asks)
  [ -z "$asked" ] || { echo "error: $1 asked for $asked" >&2; exit 1; }
  echo "no request  $1"
}

# The check itself is checked: a page with a picture from elsewhere is noticed.
printf '<!doctype html><title>x</title>' >"$work/empty.html"
printf '<!doctype html><title>x</title><img src="http://control.example/p.png">' >"$work/control.html"
open "file://$work/empty.html" control 400 300
grep -v '^file:' "$work/hosts" >"$work/own" || true
echo none://none >>"$work/own"
open "file://$work/control.html" control 400 300
[ "$(asks)" = "http://control.example" ] || { echo "error: the check would not notice a request" >&2; exit 1; }
rm "$out/control.png"

# A goal that is given up, one at which the circuit breaker trips, a line of the
# log that was changed, and a hostile text.
cp -R "$here/examples/cannot-be-done" "$work/p"
mkdir -p "$work/p/.orch/playbooks"
cat >"$work/p/.orch/playbooks/call.yaml" <<'END'
name: call
describe: call the service
examples: [call the service]
match: {words: [[call], [service]]}
task_criteria:
  - {criterion: it was called, check: {file: {path: done}}}
subtasks:
  - slot: try
    intent: try it
    sequence: 1
    targets: done
    criteria:
      - {criterion: it was tried, check: {file: {path: done}}}
    approaches:
      - name: loop
        describe: again and again
        target: done
        steps:
          - run: "orch note anomaly retry_loop count=3 'error_pattern=dial tcp 10.0.0.7:5432: connection refused'"
          - run: "orch note anomaly retry_loop count=4 'error_pattern=dial tcp 10.0.0.8:5432: connection refused'"
          - run: "orch note anomaly retry_loop count=5 'error_pattern=dial tcp 10.0.0.9:5432: connection refused'"
          - run: until grep -q retry_cluster .orch/audit/audit.jsonl; do sleep 0.1; done; touch done
END
cd "$work/p"
run() { # expected exit code, words
  want=$1 code=0
  shift
  "$orch" run --yes "$@" >"$work/said" 2>&1 || code=$?
  [ $code -eq "$want" ] || { cat "$work/said" >&2; echo "error: exit $code, expected $want" >&2; exit 1; }
}
PATH="$(dirname "$orch"):$PATH"
run 3 'make the tests pass'
run 4 'call the service'
"$orch" resume >/dev/null
sed -i.bak '20s/"from"/"from" /' .orch/log.jsonl
code=0
"$orch" audit --report --query "not message ~ '</code></svg><img src=http://control.example/q.png onerror=alert(1)>'" >"$out/report.txt" 2>/dev/null || code=$?
[ $code -eq 5 ] || { echo "error: orch audit ended with $code, expected 5" >&2; exit 1; }
cp .orch/audit/report.* "$out"
grep -q 'img src=http://control.example' "$out/report.json" || { echo "error: the hostile text is not in the report" >&2; exit 1; }

page=$out/report.html
open "file://$page" desktop 1200 2600
silent "the report"
# Not only its policy: nothing in it refers to anything.
sed 's/<meta http-equiv="Content-Security-Policy"[^>]*>//' "$page" >"$work/open.html"
cmp -s "$page" "$work/open.html" && { echo "error: the report has no policy" >&2; exit 1; }
open "file://$work/open.html" desktop 1200 2600
silent "the report without its policy"
open "file://$page" dark 1200 2600 --blink-settings=preferredColorScheme=0
silent "the report in the dark"
# A window has a least width, a frame has none.
printf '<!doctype html><title>x</title><body style="margin:0"><iframe src="file://%s" style="border:0;width:390px;height:3400px"></iframe>' "$page" >"$work/narrow.html"
open "file://$work/narrow.html" narrow 500 3400
silent "the narrow report"
echo "look at     $out/desktop.png, dark.png, narrow.png"
