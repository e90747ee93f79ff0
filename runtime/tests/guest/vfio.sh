#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs in a guest: every way a device can be refused, shared, left behind and
# taken away. The argument is the path of kmd_smoke. Prints TAP.
#   scripts/run-guest --script runtime/tests/guest/vfio.sh \
#       --file runtime/tests/guest/lib.sh:/mxgpu/lib.sh \
#       --file PATH/kmd_smoke -- PATH/kmd_smoke
smoke=$1
# shellcheck source=runtime/tests/guest/lib.sh
. /mxgpu/lib.sh
group=$(basename "$(readlink "/sys/bus/pci/devices/$bdf/iommu_group")")

runs() { # TEXT ARG...
    text=$1
    shift
    "$smoke" "$@" >"$out" 2>"$log"
    ok $? "$text"
}

refused() { # WORD-IN-THE-REASON TEXT ARG...
    word=$1
    text=$2
    shift 2
    "$smoke" "$@" >"$out" 2>"$log"
    status=$?
    [ $status = 1 ] && grep -q "$word" "$log"
    ok $? "$text"
}

hold() {
    # What the one before said must not be taken for this one's word: the file
    # is emptied by the process in the background, perhaps after the first look.
    rm -f /tmp/hold.$$
    # Longer than anything here takes on a busy host.
    "$smoke" --hold 1000 >/tmp/hold.$$ 2>&1 &
    holder=$!
    until grep -q holding /tmp/hold.$$ 2>/dev/null || ! kill -0 $holder; do
        usleep 100000
    done
}

runs "a device"
hold
refused "in use" "a device another process has"
kill -9 $holder
wait $holder 2>/dev/null
runs "a device whose user was killed"
for tenths in 0 1 2 3 4 5 6 7; do
    "$smoke" >/dev/null 2>&1 &
    usleep "$((tenths * 60000 + 20000))"
    kill -9 $! 2>/dev/null
    wait $! 2>/dev/null
done
runs "a device whose users were killed at any time"

chmod 600 "/dev/vfio/$group"
chmod 666 /dev/vfio/vfio
refused "Permission denied" "no permission" --uid 65534
chown 65534 "/dev/vfio/$group"
refused "lockable memory" "too little lockable memory" --uid 65534 \
    --memlock 65536
runs "no privileges" --uid 65534 --memlock 67108864
chown 0 "/dev/vfio/$group"

hold
echo "$bdf" >"/sys/bus/pci/devices/$bdf/driver/unbind"
wait $holder
status=$?
[ $status = 3 ]
ok $? "a device that is unbound under its user"
[ $status = 3 ] || sed "s/^/# status $status: /" /tmp/hold.$$
refused "no driver" "a device that is not bound"
echo vfio-pci >"/sys/bus/pci/devices/$bdf/driver_override"
echo "$bdf" >/sys/bus/pci/drivers_probe
runs "a device that is bound again"

MXGPU_DEVICE=vfio:$bdf
runs "a device by its address"
MXGPU_DEVICE=vfio:00:1e.7
refused "no PCI function" "a device that is not there"
MXGPU_DEVICE=auto
runs "a device found"
end
