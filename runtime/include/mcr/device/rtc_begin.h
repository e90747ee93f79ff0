/* SPDX-License-Identifier: MIT */
/*
 * What is included before a source of NVRTC or HIPRTC leaves names to it that
 * are not there with NVRTC: int64_t and its kin, and all of std. Until
 * rtc_end.h the C library's types and the C++ library have other names; what
 * the compiler knows by its name in std comes first.
 */
#ifdef __MC_RTC_LEAN__
#include <initializer_list>
#include <new>
#if __has_include(<bits/functexcept.h>)
#include <bits/functexcept.h>
#endif

namespace __mc_std {
using namespace std;
#if _GLIBCXX_USE_CXX11_ABI
inline namespace __cxx11 __attribute__((__abi_tag__("cxx11"))) {
}
#endif
}
namespace std {
using namespace __mc_std; /* where a source has not defined the same name */
}

#define std       __mc_std
#define int8_t    __mc_int8_t
#define int16_t   __mc_int16_t
#define int32_t   __mc_int32_t
#define int64_t   __mc_int64_t
#define uint8_t   __mc_uint8_t
#define uint16_t  __mc_uint16_t
#define uint32_t  __mc_uint32_t
#define uint64_t  __mc_uint64_t
#define intptr_t  __mc_intptr_t
#define uintptr_t __mc_uintptr_t
#define intmax_t  __mc_intmax_t
#define uintmax_t __mc_uintmax_t
#define ulong     __mc_ulong
#endif
