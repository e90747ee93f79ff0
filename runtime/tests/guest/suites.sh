#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs in a guest: programs that print TAP, one after the other, as one. The
# arguments are their paths. Prints TAP.
#   scripts/run-guest --script runtime/tests/guest/suites.sh \
#       --file PATH/program2 -- PATH/program PATH/program2
# shellcheck source=runtime/tests/guest/lib.sh
. /mxgpu/lib.sh
unset MXGPU_LOG # some look at what is written

for program in "$@"; do
    name=${program##*/}
    name=${name#device-runtime-}
    timeout 300 "$program" >"$out" 2>"$log"
    status=$?
    grep -E '^(not )?ok ' "$out" >"$out.tests"
    while read -r line; do
        text=${line#*ok }
        case $line in
        "ok "*) count=$((count + 1)) && echo "ok $count - $name: ${text#* }" ;;
        *) ok 1 "$name: ${text#* }" ;;
        esac
    done <"$out.tests"
    [ $status = 0 ] && [ -s "$out.tests" ]
    ok $? "$name: to the end"
done
end
