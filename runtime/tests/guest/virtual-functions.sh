#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs in a guest with a card of two virtual functions: the kernel enables them,
# programs use both at once, and one is reset under the other's program. The
# arguments are the paths of vectorAdd and runtime-hold. Prints TAP.
#   scripts/run-guest --device-opt vfs=2 --script THIS \
#       --file runtime/tests/guest/lib.sh:/mxgpu/lib.sh -- vectorAdd runtime-hold
add=$1
hold=$2
# shellcheck source=runtime/tests/guest/lib.sh
. /mxgpu/lib.sh
card=/sys/bus/pci/devices/$bdf

# The card itself goes to a driver that does nothing but enable the others.
echo "$bdf" >/sys/bus/pci/drivers/vfio-pci/unbind
echo pci-pf-stub >"$card/driver_override"
echo "$bdf" >/sys/bus/pci/drivers_probe
echo 2 >"$card/sriov_numvfs" 2>"$log"
ok $? "two virtual functions are enabled"
[ "$(cat "$card/sriov_numvfs")" = 2 ] && [ -e "$card/virtfn1" ]
ok $? "... and there"

function_of() {
    basename "$(readlink -f "$card/virtfn$1")"
}
first=$(function_of 0)
second=$(function_of 1)
for f in "$first" "$second"; do
    driver=$(basename "$(readlink -f "/sys/bus/pci/devices/$f/driver")")
    echo "$f is bound to $driver" >"$log"
    [ "$driver" = vfio-pci ]
    ok $? "$f is for vfio-pci"
done
groups=$(for f in "$first" "$second"; do
    readlink "/sys/bus/pci/devices/$f/iommu_group"
done | sort -u | wc -l)
[ "$groups" = 2 ]
ok $? "each has an IOMMU group of its own"

MXGPU_DEVICE=vfio:$first "$add" >"$log" 2>&1
ok $? "a program on the first"
MXGPU_DEVICE=vfio:$second "$hold" device >"$out" 2>"$log" &
holder=$!
until grep -q holding "$out" || ! kill -0 $holder; do
    usleep 10000
done
MXGPU_DEVICE=vfio:$first "$add" >"$log" 2>&1
ok $? "... beside an endless kernel on the second"
echo 1 >"/sys/bus/pci/devices/$first/reset"
kill -0 $holder
ok $? "the first is reset: the second's program goes on"
echo 1 >"/sys/bus/pci/devices/$second/reset"
wait $holder
[ $? = 3 ]
ok $? "the second is reset: its program hears of it"
MXGPU_DEVICE=vfio:$second "$add" >"$log" 2>&1
ok $? "... and the next one works"
echo 0 >"$card/sriov_numvfs" 2>"$log"
[ ! -e "$card/virtfn0" ]
ok $? "they are disabled again"
end
