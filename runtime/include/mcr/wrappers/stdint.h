// SPDX-License-Identifier: MIT
// <stdint.h> of the C library; its types have other names before a source of
// NVRTC or HIPRTC (mcr/device/rtc_begin.h), and get their own here.
#include_next <stdint.h>

#ifdef __MC_RTC_SOURCE__
typedef __mc_int8_t int8_t;
typedef __mc_int16_t int16_t;
typedef __mc_int32_t int32_t;
#ifndef __HIPCC_RTC__
typedef __mc_int64_t int64_t;
typedef __mc_uint64_t uint64_t;
#endif
typedef __mc_uint8_t uint8_t;
typedef __mc_uint16_t uint16_t;
typedef __mc_uint32_t uint32_t;
typedef __mc_intptr_t intptr_t;
typedef __mc_uintptr_t uintptr_t;
typedef __mc_intmax_t intmax_t;
typedef __mc_uintmax_t uintmax_t;
#endif
