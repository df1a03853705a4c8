#!/bin/sh
# Prints the performance bars of docs/bench.md with what this machine makes of
# them. ORCH names the built program; all arguments go to the bench: --help
# lists them.
set -eu
cd "$(dirname "$0")/.."
exec "${GO:-go}" run ./scripts/bench "$@"
