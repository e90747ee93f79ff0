# SPDX-License-Identifier: MIT
# find_package(hip), for projects of CMake's language HIP, or whose C++ compiler
# is hipcc.
#
#   hip::host      to use HIP's functions in sources of the host
#   hip::device    the same where the compiler takes kernels
#   hip::amdhip64  the library
get_filename_component(_hip_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
find_package(mxgpu CONFIG REQUIRED NO_DEFAULT_PATH
    PATHS "${_hip_root}/lib/cmake/mxgpu")
if(NOT TARGET hip::amdhip64)
    foreach(_hip_name amdhip64 host device)
        add_library(hip::${_hip_name} INTERFACE IMPORTED)
    endforeach()
    set_target_properties(hip::amdhip64 PROPERTIES
        INTERFACE_LINK_LIBRARIES mxgpu::hip)
    # Kernels need no definition: mxcc has them.
    set_target_properties(hip::host PROPERTIES
        INTERFACE_LINK_LIBRARIES hip::amdhip64
        INTERFACE_COMPILE_DEFINITIONS
            "$<$<COMPILE_LANGUAGE:C,CXX>:__HIP_PLATFORM_AMD__=1>")
    set_target_properties(hip::device PROPERTIES
        INTERFACE_LINK_LIBRARIES hip::host)
endif()
set(hip_INCLUDE_DIR "${_hip_root}/include/mxgpu-hip")
set(hip_INCLUDE_DIRS "${hip_INCLUDE_DIR}")
set(hip_LIBRARIES hip::host hip::device)
set(HIP_INCLUDE_DIRS "${hip_INCLUDE_DIRS}")
set(HIP_PLATFORM amd)
set(HIP_COMPILER clang)
set(HIP_RUNTIME rocclr)
set(HIP_VERSION 5.2)
set(hip_VERSION 5.2)
set(hip_FOUND TRUE)
set(HIP_FOUND TRUE)
unset(_hip_root)
unset(_hip_name)
