#!/bin/sh
# Takes a real history through the coding profile: consecutive released versions
# of a Go module, from the module proxy or its cache. A scripted planner makes
# tasks of the steps between them, a scripted coder applies each, and in the end
# the integration branch must have exactly the last version's tree.
#
# Twice: with one coder, where each step is one task after the other; and with
# six, where a step is a task for its Go files and one for each other file, and a
# task only waits for the earlier tasks on the same files. Each Go step is
# tested with the module's own tests, when it is reviewed and when it is merged.
#
#   MODULE=github.com/google/uuid VERSIONS="v1.1.0 v1.1.1 …" CODERS="1 6" sh scripts/pair-history.sh
#
# It leaves nothing behind but with KEEP=1.
set -eu
orch=${ORCH:?names the built program}
module=${MODULE:-github.com/google/uuid}
versions=${VERSIONS:-v1.1.0 v1.1.1 v1.1.2 v1.1.3 v1.1.4 v1.1.5 v1.2.0 v1.3.0 v1.3.1 v1.4.0 v1.5.0 v1.6.0}
spec=${SPEC:-README.md}
here=$(cd "$(dirname "$0")/.." && pwd)
go=${GO:-go}
work=$(mktemp -d "${TMPDIR:-/tmp}/orch-history.XXXXXX")
[ -n "${KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
export ORCH_DISCOVER=off XDG_STATE_HOME="$work/state"
(cd "$here" && "$go" build -o "$work/fakepair" ./scripts/fakepair)

# The history: a commit for each version, and a tag.
history="$work/history"
git init -q -b main "$history"
git -C "$history" config user.name "A Historian"
git -C "$history" config user.email historian@example.org
for v in $versions; do
  dir=$(cd "$work" && "$go" mod download -json "$module@$v" | sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p')
  [ -n "$dir" ] || { echo "error: $module@$v can not be had"; exit 1; }
  find "$history" -mindepth 1 -maxdepth 1 ! -name .git -exec rm -rf {} +
  cp -R "$dir/." "$history/"
  chmod -R u+w "$history"
  git -C "$history" add -A -f
  git -C "$history" commit -qm "$module $v"
  git -C "$history" tag "$v"
  mkdir -p "$work/versions"
  ln -s "$dir" "$work/versions/$v"
  last=$v
done
set -- $versions
first=$1
tree=$(git -C "$history" rev-parse "$last^{tree}")

# task SLOT FROM TO EXEMPT < paths: notes what the task applies, and prints it as
# the planner says it. It waits for the last task on each of its files.
task() {
  slot=$1 from=$2 to=$3 exempt=$4
  cat > "$play/apply/$slot.paths"
  echo "$work/versions/$to" > "$play/apply/$slot.from"
  after=
  while IFS= read -r path; do
    before=$(sed -n "s|^$path	||p" "$play/owners" | tail -n 1)
    case " $after " in *" $before "*) ;; *) after="$after $before" ;; esac
    printf '%s\t%s\n' "$path" "$slot" >> "$play/owners.new"
  done < "$play/apply/$slot.paths"
  # All Go files are one program, so that its steps follow each other.
  [ "$exempt" = true ] || after="$after ${go_task:-}"
  list=$(printf '%s\n' $after | sort -u | sed '/^$/d; s/.*/"&"/' | paste -sd, -)
  [ -s "$play/tasks" ] && echo , >> "$play/tasks"
  cat >> "$play/tasks" <<JSON
{"slot": "$slot", "intent": "bring the project from $from to $to: $slot", "approach": "apply_the_release", "spec_ref": "$spec",
 "done_when": "the files of $slot are byte for byte those of $to", "scope": "the files that differ between $from and $to, as far as they are of $slot",
 "depends_on": [$list], "exempt_from_tests": $exempt$5}
JSON
}

# step FROM TO: the tasks of one step.
step() {
  name=$(echo "$2" | tr '.+-' '___')
  git -C "$history" diff --no-renames --name-only "$1" "$2" > "$work/changed"
  : > "$play/owners.new"
  if [ "$coders" = 1 ]; then
    check=", \"criteria\": [{\"criterion\": \"the tree is that of $2\", \"check\": {\"run\": {\"command\": \"git rev-parse HEAD^{tree}\", \"stdout\": {\"contains\": \"$(git -C "$history" rev-parse "$2^{tree}")\"}}}}]"
    task "$name" "$1" "$2" false "$check" < "$work/changed"
    go_task=$name
  else
    if grep -E '\.go$|^go\.(mod|sum)$' "$work/changed" > "$work/group"; then
      task "${name}_go" "$1" "$2" false "" < "$work/group"
      go_task=${name}_go
    fi
    grep -vE '\.go$|^go\.(mod|sum)$' "$work/changed" > "$work/rest" || true
    n=0
    while IFS= read -r path <&3; do
      n=$((n + 1))
      echo "$path" > "$work/group"
      task "${name}_file_$n" "$1" "$2" true "" < "$work/group"
    done 3< "$work/rest"
  fi
  cat "$play/owners.new" >> "$play/owners"
}

# run CODERS: the whole history through so many coders.
run() {
  coders=$1
  project="$work/project-$coders" play="$work/play-$coders" go_task=
  mkdir -p "$play/apply" "$play/planner" "$play/candidates" "$play/coder" "$play/code-reviewer"
  : > "$play/owners"
  : > "$play/tasks"
  from=$first
  for to in $versions; do
    [ "$to" = "$first" ] || step "$from" "$to"
    from=$to
  done
  cat > "$play/planner/plan.sh" <<PLAN
cat <<'JSON'
{"task_criteria": [
  {"criterion": "the tree is that of $last", "check": {"run": {"command": "git rev-parse HEAD^{tree}", "stdout": {"contains": "$tree"}}}},
  {"criterion": "its tests pass", "check": {"run": {"command": "go test ./..."}}}],
 "tasks": [
$(cat "$play/tasks")
]}
JSON
PLAN
  echo "echo '{\"candidates\": []}'" > "$play/candidates/default.sh"
  cat > "$play/coder/default.sh" <<'CODER'
from=$(cat "$PLAY/apply/$SLOT.from")
while IFS= read -r path; do
  if [ -f "$from/$path" ]; then
    mkdir -p "$(dirname "$path")"
    rm -f "$path"
    cp "$from/$path" "$path"
    chmod 644 "$path"
    git add -f -- "$path"
  else
    git rm -qf -- "$path"
  fi
done < "$PLAY/apply/$SLOT.paths"
git commit -qm "Apply $SLOT"
orch submit --notes "as it was released" > /dev/null
CODER
  # Releases drop tests and change what they expect: the task demands it.
  echo 'echo accept' > "$play/code-reviewer/default.sh"
  git init -q -b main "$project"
  git -C "$project" config user.name "A Person"
  git -C "$project" config user.email person@example.org
  git -C "$project" fetch -q --no-tags "$history" "refs/tags/$first:refs/heads/main" --update-head-ok
  git -C "$project" reset -q --hard
  mkdir "$project/.orch"
  {
    echo models:
    for role in planner coder code-reviewer meta-validator; do
      echo "  $role: {backend: exec, options: {command: \"$work/fakepair $play\", format: json, linger_ms: \"200\"}}"
    done
    [ "$coders" = 1 ] && reviewers=1 || reviewers=2
    echo "code: {test_command: go test ./..., coders: $coders, reviewers: $reviewers}"
    echo "limits: {jobs: $((coders + reviewers))}"
  } > "$project/.orch/config.yaml"
  began=$(date +%s)
  code=0
  (cd "$project" && "$orch" run --profile code --spec "$spec" "bring $module from $first to $last") > "$work/run-$coders" 2>&1 || code=$?
  took=$(($(date +%s) - began))
  have=$(git -C "$project" rev-parse 'integration^{tree}')
  log="$project/.orch/log.jsonl"
  count() { grep -c "$1" "$log" || true; }
  merges=$(count '"type":"Merged"')
  if [ "$code" != 0 ] || [ "$have" != "$tree" ] || [ "$merges" != "$(grep -c '"slot"' "$play/tasks")" ] || ! (cd "$project" && "$orch" verify) > "$work/verify-$coders" 2>&1; then
    tail -n 40 "$work/run-$coders" "$work/verify-$coders" 2> /dev/null || true
    echo "error: $coders coders: exit $code, $merges merges, tree $have, want $tree"
    return 1
  fi
  accepted=$(sed -n 's/^| `[0-9a-f]*` | \(.*:[0-9]*: .*\) |$/\1/p' "$project"/.orch/goals/*/report.md | wc -l)
  echo "$coders coders: $merges tasks merged in $took s, $(count '"decision":"rejected"') rejected, $(count '"type":"IntegrationFailed"') did not fit, $accepted findings accepted by name; tree $have is that of $last"
}

echo "$module from $first to $last, $(($# - 1)) steps"
for n in ${CODERS:-1 6}; do
  run "$n"
done
