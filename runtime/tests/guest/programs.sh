#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs in a guest: programs that check themselves, one after the other. The
# arguments are their paths. Prints TAP.
#   scripts/run-guest --script runtime/tests/guest/programs.sh \
#       --file PATH/program2 -- PATH/program PATH/program2
# shellcheck source=runtime/tests/guest/lib.sh
. /mxgpu/lib.sh

for program in "$@"; do
    "$program" >"$out" 2>"$log" && grep -q '^\(.*: \)\{0,1\}PASS$' "$out"
    ok $? "${program##*/}"
done
end
