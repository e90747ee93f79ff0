# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# To be sourced: . $MACA_PATH/etc/environment.sh, where MACA_PATH is known.
: "${MACA_PATH:?is to name the installation}"
export MACA_PATH
PATH=$MACA_PATH/mxgpu_llvm/bin:$MACA_PATH/bin:$PATH
LD_LIBRARY_PATH=$MACA_PATH/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PATH LD_LIBRARY_PATH
