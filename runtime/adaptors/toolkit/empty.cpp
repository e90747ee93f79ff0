// SPDX-License-Identifier: MIT
// Of targets all of whose sources have kernels.
