#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Runs in a guest that has loaded the driver; its arguments are the paths of
# the programs of this folder. Prints TAP.
#   scripts/run-guest --driver --script driver-stub/tests/run.sh -- PROGRAM...
folder=${1%/*}
module=/mxgpu/mxgpu.ko
nodes=/dev/dri/renderD
log=/tmp/log
count=0
failed=0

ok() { # STATUS TEXT
    count=$((count + 1))
    if [ "$1" = 0 ]; then
        echo "ok $count - $2"
    else
        echo "not ok $count - $2"
        sed 's/^/# /' $log
        failed=$((failed + 1))
    fi
}

# What the kernel says of a defect: of memory, of locks, of DMA behind its back.
quiet() { # TEXT
    dmesg -c >>/tmp/all
    ! grep -E -A 30 'BUG|WARNING|Oops|Call Trace|DMAR.*[Ff]ault|leak' /tmp/all \
        >$log
    ok $? "$1: the kernel does not complain"
    : >/tmp/all
}

# A program that prints TAP, too: its tests are ours.
inside() { # NAME ARG...
    name=$1
    shift
    "$folder/driver-$name" "$@" >/tmp/out 2>$log
    status=$?
    while read -r line; do
        case $line in
        "ok "*) : >$log; ok 0 "$name: ${line#*- }" ;;
        "not ok "*) cat /tmp/out >$log; ok 1 "$name: ${line#*- }" ;;
        esac
    done </tmp/out
    cat /tmp/out >>$log
    grep -q '^1\.\.[1-9]' /tmp/out && [ $status = 0 ]
    ok $? "$name: to the end"
}

first=$(ls -d "$nodes"* 2>/dev/null | sed -n 1p)
dmesg >$log
[ -c "$first" ]
ok $? "the driver serves a render node"
[ -c "$first" ] || exit 1
inside smoke "$first"
quiet "after use"
rmmod mxgpu 2>$log && [ ! -e "$first" ]
ok $? "unload"
insmod $module 2>$log && [ -c "$first" ]
ok $? "load again"
inside smoke "$first"
quiet "loaded twice"
echo "1..$count"
[ $failed = 0 ]
