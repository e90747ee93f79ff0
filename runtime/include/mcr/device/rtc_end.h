/* SPDX-License-Identifier: MIT */
/* The end of what rtc_begin.h has begun. */
#ifdef __MC_RTC_LEAN__
#define __MC_RTC_SOURCE__ 1
#undef std
#undef int8_t
#undef int16_t
#undef int32_t
#undef int64_t
#undef uint8_t
#undef uint16_t
#undef uint32_t
#undef uint64_t
#undef intptr_t
#undef uintptr_t
#undef intmax_t
#undef uintmax_t
#undef ulong
#endif
