#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Runs in a guest that has loaded the driver for two cards with two virtual functions
# each, behind root ports: errors that the bus reports, cards that are taken away,
# virtual functions, and the module unloaded, each while programs use it. The
# arguments are the paths of the programs of this folder. Prints TAP; lines for
# bus.py among it.
#   driver-stub/tests/bus.py scripts/run-guest --driver --ports \
#       --gpus 2 --device-opt vfs=2 --append "iomem=relaxed pcie_ports=native" \
#       --qemu-arg=-global \
#       --qemu-arg=ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off \
#       --file driver-stub/tests/lib.sh:/mxgpu/lib.sh \
#       --script driver-stub/tests/bus.sh -- PROGRAM...
# The number of times that the module is unloaded is $reloads (5).
folder=${1%/*}
# shellcheck source=driver-stub/tests/lib.sh
. /mxgpu/lib.sh

function=$(function_of "$first")
bdf=${function##*/}
port=${function%/*}
mount -t debugfs none /sys/kernel/debug 2>/dev/null

monitor() { # COMMAND...: of QEMU
    echo "# monitor: $*"
}

# COMMAND...: until it succeeds, at most 30 s.
until_true() {
    tries=300
    until "$@"; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || return 1
        usleep 100000
    done
}

# Errors that were reported to the port: cor, nonfatal, fatal.
errors() { # KIND
    cat "$port/aer_rootport_total_err_$1"
}

is() { # A B
    [ "$1" = "$2" ]
}

more() { # KIND NUMBER: of errors
    [ "$(errors "$1")" -gt "$2" ]
}

recoveries() { # by the kernel's account
    dmesg | grep -c "device recovery successful"
}

recovered() { # BEFORE
    [ "$(recoveries)" -gt "$1" ]
}

# KIND [-c] NAME: an error of the bus that the card reports; and what comes of it.
inject() {
    before=$(errors "$1")
    done=$(recoveries)
    kind=$1
    shift
    if [ "$1" = -c ]; then
        monitor "pcie_aer_inject_error -c gpu0 $2"
    else
        monitor "pcie_aer_inject_error gpu0 $1"
    fi
    until_true more "$kind" "$before" &&
        { [ "$kind" = cor ] || until_true recovered "$done"; } && return
    dmesg >$log
    return 1
}

# NAME NODE SECONDS: eight processes in the background.
soak_begin() {
    "$folder/driver-soak" "$2" "$3" 1 >"/tmp/soak.$1" 2>&1 &
    eval "soak_$1=$!"
    usleep 1000000
}

soak_end() { # NAME TEXT
    eval "wait \$soak_$1"
    status=$?
    cp "/tmp/soak.$1" /tmp/out
    results "$2" $status
    grep '^#' /tmp/out
}

resets() {
    sed -n 's/^resets: //p' "/sys/kernel/debug/dri/${first##*renderD}/firmware"
}

node_of() { # FUNCTION
    for node in "$1"/drm/renderD*; do
        [ ! -e "$node" ] || echo "/dev/dri/${node##*/}"
    done
}

there() {
    first=$(node_of "$function")
    [ -n "$first" ] && [ -c "$first" ]
}

# ---- errors ----

is "$(errors fatal)" 0
ok $? "errors are counted"
soak_begin a "$first" 6
inject cor -c 1
ok $? "a correctable error is reported"
inject nonfatal COMP_TIME
ok $? "one that is not fatal, too"
soak_end a "errors that are not fatal"
is "$(resets)" 0
ok $? "nobody was reset by them"
quiet "errors that are not fatal"

under "a fatal error" lost inject fatal MALF_TLP
is "$(resets)" 1
ok $? "and reset once"

# COMMAND register 0, so that it does not answer when it is looked at.
echo on >"$function/power/control"
silence "$function"
inject nonfatal UNX_COMP
ok $? "an error, and it does not answer: its slot is reset"
inside smoke "$first"
echo auto >"$function/power/control"
asleep() {
    is "$(cat "$function/power/runtime_status")" suspended
}
until_true asleep && inject nonfatal COMP_TIME
ok $? "an error while it sleeps"
until_true asleep && inject fatal MALF_TLP
ok $? "a fatal one"
inside smoke "$first"
quiet "errors while it sleeps"

# ---- removal ----

under "removed by sysfs" gone sh -c "echo 1 >$function/remove"
echo 1 >/sys/bus/pci/rescan
until_true there
ok $? "found again"
inside smoke "$first"

# ---- virtual functions ----

echo 2 >"$function/sriov_numvfs" 2>$log
ok $? "two virtual functions"
vf0=$(readlink -f "$function/virtfn0")
vf1=$(readlink -f "$function/virtfn1")
node0=$(node_of "$vf0")
node1=$(node_of "$vf1")
[ -c "$node0" ] && [ -c "$node1" ]
ok $? "each serves a node"
soak_begin a "$first" 8
soak_begin b "$node0" 8
inside smoke "$node1"
card=$first
first=$node1
under "reset of a virtual function" lost sh -c "echo 1 >$vf1/reset"
under "unbind of a virtual function" gone unbind "${vf1##*/}"
bind "${vf1##*/}" 2>$log
ok $? "bind again"
first=$card
soak_end a "the card meanwhile"
soak_end b "the other one meanwhile"
usleep 3000000
is "$(cat "$function/power/runtime_status")" active
ok $? "the card stays awake for them"
first=$(node_of "$vf0")
under "virtual functions switched off" gone sh -c \
    "echo 0 >$function/sriov_numvfs"
first=$card
until_true asleep
ok $? "the card may sleep again"
echo 1 >"$function/sriov_numvfs" && unbind "$bdf" && [ ! -e "$vf0" ]
ok $? "unbind takes them along"
bind "$bdf" 2>$log && until_true there
ok $? "bind again"
inside smoke "$first"
quiet "virtual functions"

# ---- the module ----

reload() {
    "$folder/driver-soak" "$first" 60 "$1" >/tmp/out 2>&1 &
    user=$!
    until grep -q "^client [0-9]*: vmid [1-9]" \
        "/sys/kernel/debug/dri/${first##*renderD}/queues"; do
        usleep 20000
    done
    ! rmmod mxgpu 2>$log || return 1
    # Its children have it open, too.
    kill -9 $user
    wait $user 2>/dev/null
    killall -9 driver-soak 2>/dev/null
    until_true rmmod mxgpu 2>$log && insmod $module 2>$log && until_true there
}
i=0
while [ $i -lt "${reloads:-5}" ] && reload $i; do
    i=$((i + 1))
done
is $i "${reloads:-5}"
ok $? "unloaded and loaded $i times while it was used"
inside smoke "$first"
quiet "loaded again"
# ---- the slots ----

other=
for f in /sys/bus/pci/devices/*; do
    f=$(readlink -f "$f")
    if [ "$(cat "$f/device")" = 0x6d78 ] && [ "$f" != "$function" ]; then
        other=$f
    fi
done
# The port's capability of PCI Express, where it is in configuration space.
express() {
    cap=$(od -A n -t u1 -j 52 -N 1 "$port/config")
    while [ "$(od -A n -t x1 -j "$((cap))" -N 1 "$port/config")" != " 10" ]; do
        cap=$(od -A n -t u1 -j $((cap + 1)) -N 1 "$port/config")
    done
}
# By the port's account, which follows that of the kernel by a second.
empty() {
    [ $(($(od -A n -t u1 -j $((cap + 26)) -N 1 "$port/config") & 64)) = 0 ]
}
# NAME NUMBER: the card of that number is put into its slot, and works, and its
# virtual functions, too. $function is where.
put_in() {
    until_true empty
    monitor "device_add mxgpu,id=gpu$2,bus=port$2,vfs=2"
    until_true there
    ok $? "$1: a card in its place is found"
    inside smoke "$first"
    echo 2 >"$function/sriov_numvfs" 2>$log
    ok $? "$1: it has virtual functions"
    inside smoke "$(node_of "$(readlink -f "$function/virtfn1")")"
    quiet "$1: a card in its place"
}
eject() { # with a word to the kernel, whose driver of the port waits for 5 s
    monitor "device_del gpu1"
    until_true [ ! -e "$function" ]
}
card=$function
function=$other
port=${function%/*}
express
until_true there
under "ejected" gone eject
put_in "ejected" 1
first=$(node_of "$function")
under "ejected with virtual functions" gone eject
put_in "ejected with virtual functions" 1

# The power of the other one's slot goes behind the kernel's back, which is told when
# that has happened.
function=$card
port=${function%/*}
express
until_true there
pull() {
    # Power controller and power indicator: off. In one word, as a port wants it
    # whose card is to go and not just to be without power.
    low=$(od -A n -t o1 -j $((cap + 24)) -N 1 "$port/config")
    # shellcheck disable=SC2059 # an octal number
    printf "\\${low# }\007" | dd of="$port/config" bs=2 \
        seek=$(((cap + 24) / 2)) conv=notrunc 2>$log
    echo 1 >"$function/remove"
    [ ! -e "$function" ]
}
under "pulled out" gone pull
put_in "pulled out" 0
under "pulled out with virtual functions" gone pull
put_in "pulled out with virtual functions" 0
echo "1..$count"
[ $failed = 0 ]
