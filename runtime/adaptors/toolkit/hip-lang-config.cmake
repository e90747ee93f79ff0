# SPDX-License-Identifier: MIT
# What CMake's language HIP links programs with: nothing, as mxcc does.
if(NOT TARGET hip-lang::device)
    add_library(hip-lang::device INTERFACE IMPORTED)
endif()
set(_CMAKE_HIP_DEVICE_RUNTIME_TARGET hip-lang::device)
set(hip-lang_FOUND TRUE)
