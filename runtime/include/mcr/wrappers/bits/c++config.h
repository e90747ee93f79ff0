// SPDX-License-Identifier: MIT
// The configuration header of libstdc++, with what constexpr functions of the
// library, which are on both sides, call outside of constant expressions: its
// assertion hook, and what throws exceptions, which ends a kernel as __trap()
// does. mxcc finds this one first.
#include "mcr/device/rtc_std.h"
#include_next <bits/c++config.h>

#ifndef MCR_WRAPPERS_CONFIG_H
#define MCR_WRAPPERS_CONFIG_H

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

namespace std {
#define __MC_THROW(name, ...)                                                  \
    [[noreturn]] __attribute__((device)) inline void __throw_##name(           \
        __VA_ARGS__)                                                           \
    {                                                                          \
        __builtin_debugtrap();                                                 \
        __builtin_unreachable();                                               \
    }
__MC_THROW(bad_alloc)
__MC_THROW(bad_array_new_length)
__MC_THROW(bad_function_call)
__MC_THROW(bad_optional_access)
__MC_THROW(bad_variant_access, const char *)
__MC_THROW(bad_variant_access, bool)
__MC_THROW(bad_variant_access, unsigned) // of later releases
__MC_THROW(logic_error, const char *)
__MC_THROW(domain_error, const char *)
__MC_THROW(invalid_argument, const char *)
__MC_THROW(length_error, const char *)
__MC_THROW(out_of_range, const char *)
__MC_THROW(out_of_range_fmt, const char *, ...)
__MC_THROW(runtime_error, const char *)
__MC_THROW(range_error, const char *)
__MC_THROW(overflow_error, const char *)
__MC_THROW(underflow_error, const char *)
#undef __MC_THROW
}

#endif
