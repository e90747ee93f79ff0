#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs in the guest: loads, unloads and loads again driver-stub's module, and
# gives it firmware that it must refuse. Status 0 when all went as it should.
module=$1
blob=/lib/firmware/mxgpu/mxgpu-fw.bin
log=/tmp/driver-stub.log
failures=0
devices=$(cat /sys/bus/pci/devices/*/device | grep -c 0x6d78)

# load NAME WORDS: inserts the module; it must say the words of every device,
# and the kernel must not complain.
load() {
    dmesg -c >/dev/null
    insmod "$module" || failures=$((failures + 1))
    dmesg >$log
    if [ "$(grep -c "mxgpu_stub.*$2" $log)" != "$devices" ]; then
        echo "FAIL $1: not '$2' once a device in the kernel's log:"
        cat $log
        failures=$((failures + 1))
    else
        echo "pass $1"
    fi
    rmmod mxgpu_stub || failures=$((failures + 1))
    dmesg -c >$log
    if grep -E 'BUG|WARNING|Oops|Call Trace|DMAR.*fault' $log; then
        echo "FAIL $1: the kernel complains"
        failures=$((failures + 1))
    fi
}

cp $blob /tmp/good
load "first load" "self-test passed"
load "second load" "self-test passed"

rm $blob
load "no firmware" "cannot be read"
head -c 1000 /tmp/good >$blob
load "truncated firmware" "refused by the device"
head -c 40 /tmp/good >$blob
load "firmware shorter than its header" "impossible size"
head -c 70000 /dev/urandom >$blob
load "noise as firmware" "refused by the device: not a firmware image"
cp /tmp/good $blob
# One byte of the code, so that only the checksum can tell.
byte=$(dd if=$blob bs=1 skip=2000 count=1 2>/dev/null | od -An -tu1)
# shellcheck disable=SC2059 # the format is the byte
printf "\\$(printf %o $((byte ^ 1)))" |
    dd of=$blob bs=1 seek=2000 conv=notrunc 2>/dev/null
load "damaged firmware" "refused by the device: bad checksum"

cp /tmp/good $blob
load "good firmware again" "self-test passed"
exit $((failures != 0))
