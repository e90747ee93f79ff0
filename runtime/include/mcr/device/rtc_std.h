/* SPDX-License-Identifier: MIT */
/*
 * A source of NVRTC or HIPRTC that includes a header of the C++ library gets
 * the library's std from there on, to specialise what is in it.
 */
#if defined(__MC_RTC_SOURCE__) && !defined(std)
#define std __mc_std
#endif
