# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# What scripts in a guest share: the first device's address, and TAP.
export MXGPU_DEVICE="${MXGPU_DEVICE:-vfio}" MXGPU_LOG=error
count=0
failed=0
bdf=
for d in /sys/bus/pci/devices/*; do
    if [ "$(cat "$d/vendor")$(cat "$d/device")" = 0x12340x6d78 ]; then
        bdf=${bdf:-${d##*/}}
    fi
done
log=/tmp/log.$$ # of the program that is tested
out=/tmp/out.$$

ok() { # STATUS TEXT
    count=$((count + 1))
    if [ "$1" = 0 ]; then
        echo "ok $count - $2"
    else
        echo "not ok $count - $2"
        sed 's/^/# /' "$log"
        grep '^not ok' "$out" | sed 's/^/# /'
        failed=$((failed + 1))
    fi
}

# The last command of a script.
end() {
    echo "1..$count"
    [ $failed = 0 ]
}
