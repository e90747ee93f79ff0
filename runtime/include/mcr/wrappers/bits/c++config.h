// SPDX-License-Identifier: MIT
// The configuration header of libstdc++ with its assertion hook on the device
// too: constexpr functions of the library, which are on both sides, call it.
// mxcc finds this one first.
#pragma once

#include_next <bits/c++config.h>

#ifdef __glibcxx_assert
namespace std {
#ifdef _GLIBCXX_ASSERTIONS
[[noreturn]] __attribute__((device)) inline void
__glibcxx_assert_fail(const char *, int, const char *, const char *) noexcept
{
    __builtin_trap();
}
#else
__attribute__((device, always_inline)) inline void __glibcxx_assert_fail()
{
}
#endif
}
#endif
