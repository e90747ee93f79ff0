#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs in a guest with the kernel driver: several processes use one device at
# once, and one that is killed, or whose kernel faults, is alone in that. The
# arguments are the paths of vectorAdd, radixSort, runtime-hold, runtime-messages,
# mx-smi, runtime-most and nQueens. Prints TAP.
#   scripts/run-guest --driver --script runtime/tests/guest/sharing.sh \
#       --file runtime/tests/guest/lib.sh:/mxgpu/lib.sh -- PATH/vectorAdd ...
# shellcheck source=runtime/tests/guest/lib.sh
. /mxgpu/lib.sh
add=$1 sort=$2 hold=$3 wrong=$4 smi=$5 most=$6 queens=$7

passes() { # PROGRAM
    "$1" >"$out.$$" 2>>"$log" && grep -q 'PASS$' "$out.$$"
}

# As many at once as there are numbers; each writes to a file of its own.
crowd() { # PROGRAM...
    pids=
    for program in "$@"; do
        n=${n:-0} && n=$((n + 1))
        { "$program" >"$out.$n" 2>>"$log" && grep -q 'PASS$' "$out.$n"; } &
        pids="$pids $!"
    done
    bad=0
    for pid in $pids; do
        wait "$pid" || bad=$((bad + 1))
    done
    return $bad
}

: >"$log"
crowd "$add" "$sort" "$add" "$sort" "$add" "$sort" "$add" "$sort"
ok $? "eight processes at once"

# More memory than there is: of one process, and of several.
"$most" beyond >"$out" 2>"$log" && grep -q 'PASS$' "$out"
ok $? "one process has what there is, and no more"
: >"$log"
crowd "$most" "$most" "$most" "$most"
ok $? "four processes with 60 % of the memory each"

# A kernel without an end has units of the device; others have turns.
"$wrong" endless >/dev/null 2>&1 &
endless=$!
crowd "$add" "$sort" "$add" "$sort" && kill -0 $endless
ok $? "four beside a kernel that does not end"
time_of() { # PID: ns that units have run its kernels
    cat /proc/"$1"/fdinfo/* 2>/dev/null |
        sed -n 's/^drm-engine-compute:[[:space:]]*\([0-9]*\) ns$/\1/p' |
        sort -n | tail -n 1
}
before=$(time_of $endless)
[ "${before:-0}" != 0 ] && until [ "$(time_of $endless)" -gt "$before" ]; do
    usleep 10000
done
ok $? "whose time grows"
"$smi" --csv -l 0.2 -c 3 >"$out" 2>"$log"
cat "$out" >>"$log"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
    $at["compute_percent"] + 0 > 0 && $at["utilization_percent"] + 0 > 0 { n++ }
    END { exit !n }' "$out"
ok $? "and mx-smi shows it as utilisation"
kill -9 $endless
wait $endless
[ $? = 137 ] && passes "$add"
ok $? "and when its process was killed"

# Nor do as many as there are slots keep others out.
"$wrong" crowd >/dev/null 2>&1 &
endless=$!
until [ "$(time_of $endless)" -gt 0 ] 2>/dev/null; do
    usleep 10000
done
usleep 500000
crowd "$add" "$sort" "$add" && kill -0 $endless
ok $? "three beside eight kernels of one process that do not end"
kill -9 $endless
wait $endless
passes "$add"
ok $? "and when that was killed"

"$hold" device >"$out" 2>"$log" &
holder=$!
until grep -q holding "$out" || ! kill -0 $holder; do
    usleep 10000
done
crowd "$add" "$sort"
ok $? "two beside a process that waits for ever"
"$smi" --reset 2>&1 | tee -a "$log" | grep -q 'not reset: in use'
ok $? "mx-smi does not reset what somebody has"
kill -9 $holder
wait $holder
[ $? = 137 ]
ok $? "that one was killed"
passes "$add"
ok $? "what it had is free"
"$smi" --reset >"$out" 2>>"$log" && grep -q 'GPU 0: reset' "$out" &&
    passes "$add"
ok $? "mx-smi resets what nobody has"

"$wrong" fault >"$out.fault" 2>"$log.fault" &
faulting=$!
crowd "$add" "$sort" "$add"
ok $? "three beside one whose kernel faults"
wait $faulting
cat "$log.fault" >>"$log"
grep -q mcErrorIllegalAddress "$out.fault"
ok $? "who alone is told of the fault"

# The machine sleeps again and again, as far as devices do: without the 5 s that it
# would stay there, in which nobody gets on. A night begins 50 ms after the last one.
# One of them it hibernates, and goes on in another QEMU.
awake() { # whether one of $pids has not ended
    for pid in $pids; do
        ! kill -0 "$pid" 2>/dev/null || return 0
    done
    return 1
}
echo devices >/sys/power/pm_test 2>"$log" &&
    echo 0 >/sys/module/suspend/parameters/pm_test_delay 2>>"$log" &&
    mkswap /dev/vda >/dev/null 2>>"$log" && swapon /dev/vda 2>>"$log"
ok $? "a machine that can sleep"
hibernate() {
    echo none >/sys/power/pm_test
    echo disk >/sys/power/state
    slept=$?
    echo devices >/sys/power/pm_test
    return $slept
}
pids=
for n in 1 2 3; do
    [ $n = 2 ] && program=$queens || program=$sort
    "$program" 30 >"$out.night$n" 2>>"$log" &
    pids="$pids $!"
done
nights=0
while awake && [ $nights -lt 60 ]; do
    usleep 50000
    if [ $nights = 3 ]; then
        hibernate 2>>"$log" || break
    else
        echo mem >/sys/power/state 2>>"$log" || break
    fi
    nights=$((nights + 1))
done
left=1200
while awake && [ $left -gt 0 ]; do
    usleep 50000
    left=$((left - 1))
done
! awake && [ $nights -ge 5 ] && for n in 1 2 3; do
    cat "$out.night$n" >>"$log"
    [ "$(grep -c ' 1$' "$out.night$n")" = 30 ] || break
done
ok $? "three that work through the nights"
echo "# $nights nights"
echo none >/sys/power/pm_test
# shellcheck disable=SC2086 # a list
kill -9 $pids 2>/dev/null
end
