# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2034
# What scripts in a guest that has loaded the driver share. $folder has the programs.
module=/mxgpu/mxgpu.ko
log=/tmp/log
count=0
failed=0

ok() { # STATUS TEXT
    count=$((count + 1))
    echo "$count $2" >/dev/kmsg
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
    ! grep -E -B 3 -A 30 'BUG|WARNING|Oops|Call Trace|DMAR.*[Ff]ault|segfault' \
        /tmp/all >$log
    ok $? "$1: the kernel does not complain"
    : >/tmp/all
}

# The tests of a program that printed TAP to /tmp/out are ours.
results() { # NAME STATUS
    while read -r line; do
        case $line in
        "ok "*) : >$log; ok 0 "$1: ${line#*- }" ;;
        "not ok "*) cat /tmp/out >$log; ok 1 "$1: ${line#*- }" ;;
        esac
    done </tmp/out
    cat /tmp/out >>$log
    grep -q '^1\.\.[1-9]' /tmp/out && [ "$2" = 0 ]
    ok $? "$1: to the end"
}

inside() { # NAME ARG...
    "$folder/driver-$1" "$2" >/tmp/out 2>$log
    results "$1 ${2##*/}" $?
}

# DRM's files of that kind: those of the driver, or those of others.
ours() { # render or card
    for file in /sys/class/drm/"$1"[D0-9]*; do
        case $(readlink "$file/device/driver") in
        */mxgpu) echo "/dev/dri/${file##*/}" ;;
        esac
    done
}

others() { # render or card
    for file in /dev/dri/"$1"[D0-9]*; do
        ours "$1" | grep -qx "$file" || echo "$file"
    done
}

# The function of a render node, and whether the driver has it.
function_of() { # NODE
    readlink -f "/sys/class/drm/${1##*/}/device"
}

# NAME HOLD-ARGUMENT COMMAND...: takes the device away from who uses it.
under() {
    event=$1
    way=$2
    shift 2
    : >/tmp/hold # what the one before said is not taken for an answer
    "$folder/driver-hold" "$way" "$first" >/tmp/hold 2>&1 &
    holder=$!
    until grep -q '^# holding' /tmp/hold || ! kill -0 $holder 2>/dev/null; do
        usleep 10000
    done
    "$@" 2>$log
    ok $? "$event: happened"
    wait $holder
    status=$?
    cp /tmp/hold /tmp/out
    results "$event" $status
    quiet "$event"
}

bind() { # BDF: and wait for nothing, for probe() does not return before
    echo "$1" >/sys/bus/pci/drivers/mxgpu/bind
}

unbind() { # BDF
    echo "$1" >/sys/bus/pci/drivers/mxgpu/unbind
}

# COMMAND register 0: no memory, no DMA. What reads it finds all ones.
silence() { # FUNCTION
    printf '\000\000' | dd of="$1/config" bs=1 seek=4 conv=notrunc 2>$log
}

first=$(ours render | sed -n 1p)
