#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Runs in a guest that has loaded the driver; its arguments are the paths of
# the programs of this folder. Prints TAP.
#   scripts/run-guest --driver --disk 1G --append "iomem=relaxed rtc_cmos.use_acpi_alarm=1" \
#       --file driver-stub/tests/lib.sh:/mxgpu/lib.sh \
#       --script driver-stub/tests/run.sh -- PROGRAM...
# (a disk to hibernate to; the first word for a program that looks at the device behind
# the driver's back, the second for the alarm clock that ends the machine's sleep).
folder=${1%/*}
# shellcheck source=driver-stub/tests/lib.sh
. /mxgpu/lib.sh

dmesg >$log
[ -c "$first" ]
ok $? "the driver serves a render node"
[ -c "$first" ] || exit 1
count_devices=$(cat /sys/bus/pci/devices/*/device | grep -c 0x6d78)
[ "$(ours render | wc -l)" = "$count_devices" ]
ok $? "one for each device"
for node in $(ours render); do
    inside smoke "$node"
done
inside limits "$first"
inside evict "$first"
quiet "evicted"
mount -t tracefs none /sys/kernel/tracing 2>/dev/null
trace=/sys/kernel/tracing
echo 1 >$trace/events/mxgpu/enable
inside faults "$first"
echo 0 >$trace/events/mxgpu/enable
cp $trace/trace /tmp/trace
: >$trace/trace
# EVENT WORDS...: a line of the event that has these words.
traced() {
    grep -q "$1: .*$2" /tmp/trace || { grep "$1: " /tmp/trace | tail >$log; }
}
: >$log
traced mxgpu_queue_create "client=[0-9]* queue=0 vmid=[1-9]" &&
    traced mxgpu_queue_irq "queue=0 count=[1-9]" &&
    traced mxgpu_queue_destroy "queue=0" &&
    traced mxgpu_mbox "op=QUEUE_CREATE first=0 result=0"
ok $? "events of queues and messages"
traced mxgpu_fault "vmid=[1-9].*addr=0x4000.*access=write source=copy" &&
    traced mxgpu_fault_verdict "verdict=kill" &&
    traced mxgpu_fault_verdict "verdict=replay"
ok $? "events of faults"
traced mxgpu_svm_map "start=0x.*end=0x" && traced mxgpu_svm_zap "start=0x"
ok $? "events of the process's memory"
quiet "after use"
# Memory and fences for another device, and for another driver, if there is one.
second=$(ours render | sed -n 2p)
while read -r module_name; do
    insmod "/mxgpu/modules/$module_name"
done </mxgpu/modules/spare
card=$(others card | sed -n 1p)
"$folder/driver-share" "$first" "$second" "$card" >/tmp/out 2>$log
results "share" $?
# It may be built in, but it is there.
[ -c "$card" ] && { [ ! -e /sys/module/vgem/initstate ] || rmmod vgem 2>$log; }
ok $? "another driver goes"
quiet "share"
# Short of the machine's own sleep, then with that. A machine that has been in S3 finds
# its power switch no more, which it hibernates with.
mkswap /dev/vda >/dev/null 2>$log && swapon /dev/vda 2>>$log
ok $? "a swap"
for night in "mem devices" "mem core" "disk devices" "disk none" "mem none"; do
    "$folder/driver-sleep" "$first" $night >/tmp/out 2>$log
    results "sleep $night" $?
    quiet "sleep $night"
done
swapoff /dev/vda 2>$log
ok $? "and nothing in it"
# The others slept, too, without anybody who had them open.
for node in $(ours render); do
    inside smoke "$node"
done
"$folder/driver-soak" "$first" "${soak:-10}" 1 >/tmp/out 2>$log
results "soak" $?
grep '^#' /tmp/out
quiet "soak"
"$folder/driver-fuzz" "$first" 6000 1 >/tmp/out 2>$log
results "random calls" $?
quiet "random calls"
inside smoke "$first"

function=$(function_of "$first")
bdf=${function##*/}

# What can be seen of it, while somebody uses it.
mount -t debugfs none /sys/kernel/debug 2>/dev/null
seen=/sys/kernel/debug/dri/${first##*renderD}

becomes() { # STATUS: of runtime power management, within 10 s
    tries=0
    until [ "$(cat "$function/power/runtime_status")" = "$1" ]; do
        tries=$((tries + 1))
        [ $tries -lt 100 ] || return 1
        usleep 100000
    done
}
becomes suspended && [ "$(cat "$function/power_state")" = D3hot ]
ok $? "idle: switched off"
grep -q '^state: asleep$' "$seen/firmware"
ok $? "idle: that can be seen"
[ "$(cat "$function/power/runtime_status")" = suspended ]
ok $? "idle: and does not wake it"
grep -q '^ID: 0x5047584d$' "$seen/registers"
ok $? "idle: a look at registers does"
becomes suspended
ok $? "idle: off again"
inside smoke "$first"
becomes suspended
ok $? "idle: after use, too"
echo 1 >"$function/reset" && inside smoke "$first"
quiet "idle"
: >/tmp/hold
mount -t cgroup2 none /sys/fs/cgroup 2>$log
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/client
charged=/sys/fs/cgroup/client
sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' $charged \
    "$folder/driver-hold" lost "$first" >/tmp/hold 2>&1 &
holder=$!
until grep -q '^# holding' /tmp/hold || ! kill -0 $holder 2>/dev/null; do
    usleep 10000
done
cat "$seen/registers" >$log 2>&1
grep -q '^ID: 0x5047584d$' $log && grep -q '^MBOX_RESP\[15\]: 0x' $log &&
    ! grep -q SRAM_DATA $log
ok $? "debugfs: registers"
cat "$seen/firmware" >$log 2>&1
grep -q '^state: up$' $log && grep -q '^version: [1-9]' $log
ok $? "debugfs: firmware"
cat "$seen/queues" "$seen/memory" >$log 2>&1
id=$(sed -n 's/^client \([0-9]*\): vmid [1-9][0-9]*, queues [1-9].*/\1/p' $log)
[ -n "$id" ] && grep -q "^queue [0-9]*: client $id, interrupts" $log &&
    grep -q '^free: [0-9]* of [0-9]* bytes$' $log &&
    grep -q "^object of client $id: [0-9]* KiB vram 0x[0-9a-f]*, pins 0" $log
ok $? "debugfs: queues and memory"
cat $charged/memory.stat >$log
# Two of 4 MiB; tables and rings are the kernel's.
[ "$(sed -n 's/^shmem //p' $log)" -ge 8388608 ] &&
    [ "$(sed -n 's/^kernel //p' $log)" -gt 65536 ]
ok $? "the client's cgroup is charged"
[ "$(cat "$function/firmware_version")" = \
    "$(sed -n 's/^version: //p' "$seen/firmware")" ] &&
    [ -n "$(cat "$function/firmware_build")" ] &&
    [ "$(cat "$function/vram_used")" -ge 4194304 ] &&
    [ "$(cat "$function/vram_total")" -gt "$(cat "$function/vram_used")" ]
ok $? "sysfs: firmware and memory"
cat "$seen/mappings" >$log 2>&1
grep -q "^client $id: vmid [1-9][0-9]*, 0 pages of the process$" $log &&
    grep -q "^0x000200000000-0x0*[0-9a-f]* system of [0-9]* KiB$" $log &&
    grep -q "^0x000300000000-0x0*[0-9a-f]* vram object at 0x[0-9a-f]* of" $log
ok $? "debugfs: mappings"
echo "$id 300001000" >"$seen/walk" && cat "$seen/walk" >$log 2>&1
grep -q '^level 3: .* valid table system' $log &&
    grep -q '^level [01]: .* valid vram read write' $log
ok $? "debugfs: a walk"
echo "99999 0" >"$seen/walk" && ! cat "$seen/walk" >/dev/null 2>&1 &&
    ! echo "$id x" 2>/dev/null >"$seen/walk" &&
    ! echo "$id 800000000000" 2>/dev/null >"$seen/walk"
ok $? "debugfs: a walk of what is not there"
for info in /proc/$holder/fdinfo/*; do
    if grep -q '^drm-driver:[[:space:]]*mxgpu$' "$info"; then
        cat "$info" >$log
    fi
done
grep -q "^drm-client-id:[[:space:]]*$id\$" $log &&
    grep -q "^drm-pdev:[[:space:]]*$bdf\$" $log &&
    grep -q '^drm-memory-system:[[:space:]]*[1-9][0-9]* KiB$' $log &&
    grep -q '^drm-total-vram:[[:space:]]*[1-9][0-9]* KiB$' $log &&
    grep -q '^drm-resident-vram:[[:space:]]*[1-9][0-9]* KiB$' $log &&
    grep -q '^drm-engine-copy:[[:space:]]*[1-9][0-9]* ns$' $log &&
    grep -q '^drm-engine-compute:[[:space:]]*0 ns$' $log &&
    grep -q '^drm-engine-capacity-compute:[[:space:]]*[1-9][0-9]*$' $log &&
    grep -q '^mxgpu-queues:[[:space:]]*[1-9]' $log
ok $? "fdinfo of a client"
# The device tried from inside of the kernel, beside that client.
selftest() { # NAMES LINE...: that the results have
    echo "$1" >"$seen/selftest" 2>/tmp/err
    status=$?
    shift
    cat "$seen/selftest" /tmp/err >$log
    for line in "$@"; do
        grep -qx "$line" $log || return 1
    done
    return $status
}
passed="ok 1 - copy"
selftest all "$passed" "ok 2 - fill" "ok 3 - dispatch" "ok 4 - fault" "1..4"
ok $? "self-tests beside a client"
selftest "dispatch copy" "$passed" "ok 2 - dispatch" "1..2"
ok $? "self-tests by name"
! selftest reset &&
    grep -qx "not ok 1 - reset: somebody has the device (-16)" $log &&
    grep -q "Device or resource busy" $log
ok $? "a self-test that would take the device from others is refused"
! selftest "copy nothing" && grep -q "Invalid argument" $log
ok $? "a self-test that there is not"
for n in 1 2 3; do
    echo all >"$seen/selftest" 2>>$log &
    eval "run$n=$!"
done
wait $run1 && wait $run2 && wait $run3
ok $? "self-tests one after the other"
sh -c 'while :; do echo all >"$0"; done' "$seen/selftest" 2>/dev/null &
run1=$!
usleep 1000000
kill -9 $run1
wait $run1 2>/dev/null
selftest all "$passed" "1..4" && cat "$seen/queues" >$log &&
    [ "$(grep -c '^client' $log)" = 1 ] && kill -0 $holder
ok $? "a self-test that is killed leaves nothing"
# What the firmware says, and more of it when asked; what has gone wrong.
# The client makes queues without end, which would fill all of it: it pauses.
kill -STOP $holder
echo 3 >"$seen/log" && selftest copy "$passed" && cat "$seen/log" >$log &&
    grep -q '^firmware [1-9][0-9.]*: [0-9]* queues' $log &&
    grep -q '^debug: queue [1-9]: created, vmid [2-9]' $log &&
    ! echo 4 2>/dev/null >"$seen/log"
ok $? "debugfs: the firmware's log"
i=0
while [ $i -lt 60 ] && selftest all "1..4"; do
    i=$((i + 1))
done
cat "$seen/log" >$log
[ $i = 60 ] && [ "$(wc -c <$log)" -gt 7000 ] && [ "$(wc -c <$log)" -le 8192 ] &&
    ! grep -q '^firmware' $log && grep -q '^warning: queue .*0x300000000' $log
kept=$?
kill -CONT $holder
ok $kept "debugfs: the firmware's log, after much"
number() { # FILE NAME
    sed -n "s/^$2: \([0-9]*\).*/\1/p" "$seen/$1"
}
cat "$seen/errors" "$seen/utilisation" >$log
[ "$(number errors 'addresses that were not translated')" -ge 60 ] &&
    [ "$(number errors 'device asleep')" -gt 0 ] &&
    [ "$(number utilisation dispatches)" -ge 60 ] &&
    [ "$(number utilisation 'bytes of them')" -gt 1000000 ] &&
    grep -q '^copy: [0-9]*[.][0-9] % of [1-9] units$' $log
ok $? "debugfs: errors and utilisation"
kill -9 $holder
wait $holder 2>/dev/null
cat "$seen/queues" >$log
! grep -q "client $id" $log
ok $? "and nothing of it is left"
before=$(cat "$function/resets")
lost=$(number errors 'device lost')
selftest reset "ok 1 - reset" "1..1" &&
    [ "$(cat "$function/resets")" = $((before + 1)) ] &&
    [ "$(number errors 'device lost')" = $((lost + 1)) ]
ok $? "a self-test of the reset"
quiet "self-tests"

dump() { # WORDS: that the dump of the last loss has; it goes then
    for data in /sys/class/devcoredump/devcd*/data; do
        [ -e "$data" ] && cat "$data" >$log && echo 1 >"$data"
    done
    for words in "$@"; do
        grep -q "$words" $log || return 1
    done
}
under "reset of the function" lost sh -c "echo 1 >$function/reset"
under "firmware stops" lost "$folder/driver-hold" stop "$function/resource0"
dump "^mxgpu $bdf: " '^queue [0-9]*: client' '^MCU_STATUS: ' '^firmware [1-9]'
ok $? "a dump of it"
under "unbind" gone unbind "$bdf"
bind "$bdf" 2>$log && [ -c "$first" ]
ok $? "bind again"
under "a device that does not answer" wedged silence "$function"
! selftest copy && grep -qx "not ok 1 - copy: no client (-19)" $log
ok $? "a self-test of a device that is not there fails"
unbind "$bdf" && bind "$bdf" 2>$log && [ -c "$first" ]
ok $? "bind brings it back"
inside smoke "$first"
quiet "bound again"

rmmod mxgpu 2>$log && [ ! -e "$first" ]
ok $? "unload"
insmod $module 2>$log && [ -c "$first" ]
ok $? "load again"
inside smoke "$first"
quiet "loaded twice"
echo "1..$count"
[ $failed = 0 ]
