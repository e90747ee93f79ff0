#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs in a guest: the device is reset, or loses its power, under a program
# that waits for it in every way. The argument is the path of runtime-hold.
# Prints TAP.
#   scripts/run-guest --script runtime/tests/guest/reset.sh \
#       --file runtime/tests/guest/lib.sh:/mxgpu/lib.sh -- PATH/runtime-hold
hold=$1
# shellcheck source=runtime/tests/guest/lib.sh
. /mxgpu/lib.sh
config=/sys/bus/pci/devices/$bdf/config

byte() { # OFFSET: of configuration space, as a number
    dd if="$config" bs=1 skip="$1" count=1 2>/dev/null | od -An -tu1 |
        tr -d ' '
}

capability() { # ID: where it is
    at=$(byte 52)
    while [ "$at" != 0 ] && [ "$(byte "$at")" != "$1" ]; do
        at=$(byte $((at + 1)))
    done
    echo "$at"
}

power() { # STATE
    # shellcheck disable=SC2059 # an octal escape
    printf "\\00$1" |
        dd of="$config" bs=1 seek=$(($(capability 1) + 4)) conv=notrunc \
            2>/dev/null
}

function_reset() {
    echo 1 >"/sys/bus/pci/devices/$bdf/reset"
}

power_cycle() {
    power 3
    power 0
}

power_off() {
    power 3
}

under() { # WAY EVENT
    : >"$out" # what the one before said is not taken for an answer
    "$hold" "$1" >"$out" 2>"$log" &
    holder=$!
    until grep -q holding "$out" || ! kill -0 $holder; do
        usleep 10000
    done
    "$2"
    wait $holder
    status=$?
    power 0
    echo "status $status" >>"$log"
    [ $status = 3 ]
    ok $? "$2 under a wait for: $1"
}

for event in function_reset power_cycle power_off; do
    for way in device stream event query copy ring firmware; do
        under $way $event
    done
done
end
