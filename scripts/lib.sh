# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What the scripts share; source it. Messages go to stderr, results to stdout.

PROGRAM=${0##*/}
MXGPU_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
MXGPU_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/mxgpu

say() {
    printf '%s: %s\n' "$PROGRAM" "$*" >&2
}

die() {
    say "$*"
    exit 1
}

# The comment block at the head of a script, below SPDX, is its manual.
usage() {
    sed -n '3,/^[^#]/ { /^#/ s/^# \{0,1\}//p }' "$0"
}

# step LABEL COMMAND...: runs a command with its output in a log that is shown
# only if it fails; a line says what is going on and how long it took.
step() {
    local label=$1 log start status=0 pid
    shift
    log=$(mktemp)
    start=$SECONDS
    printf '%s ... ' "$label" >&2
    "$@" >"$log" 2>&1 </dev/null &
    pid=$!
    # Ctrl-C must not leave the job behind.
    trap 'kill "$pid" 2>/dev/null; rm -f "$log"; exit 130' INT TERM
    while kill -0 "$pid" 2>/dev/null; do
        sleep 0.2
        if (((SECONDS - start) % 10 == 9)); then
            printf '%ds ' $((SECONDS - start)) >&2
            sleep 1
        fi
    done
    wait "$pid" || status=$?
    trap - INT TERM
    if ((status == 0)); then
        printf 'done (%d s)\n' $((SECONDS - start)) >&2
    else
        printf 'FAILED (status %d)\n' "$status" >&2
        tail -n 60 "$log" >&2
    fi
    rm -f "$log"
    return "$status"
}

# with_lock NAME COMMAND...: one at a time on this machine and account.
with_lock() {
    local lock=$MXGPU_CACHE/$1.lock
    shift
    mkdir -p "$MXGPU_CACHE"
    (
        flock 9
        "$@" 9>&-
    ) 9>"$lock"
}
