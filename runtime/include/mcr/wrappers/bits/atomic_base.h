// SPDX-License-Identifier: MIT
// What std::atomic and std::atomic_ref consist of, with its functions on both
// sides. What it includes itself stays as it is, but for the loops that wait
// for a change: these call the system's.
#pragma once

#include <new>
#include <type_traits>

#include <bits/c++config.h>
#if __cplusplus >= 202002L && __has_include(<bits/atomic_wait.h>)
#include <bits/atomic_wait.h>
#endif
#if __has_include(<bits/atomic_lockfree_defines.h>)
#include <bits/atomic_lockfree_defines.h>
#endif
#if __has_include(<bits/move.h>)
#include <bits/move.h>
#endif

#pragma clang force_cuda_host_device begin
#include_next <bits/atomic_base.h>
#pragma clang force_cuda_host_device end
