# SPDX-License-Identifier: MIT
# find_package(mxgpu): the runtime, its compiler, and targets with kernels.
#
#   mxgpu::runtime, mxgpu::cuda, mxgpu::hip    to link programs of the host with
#   mxgpu_add_executable(name source...)
#   mxgpu_add_library(name [STATIC|SHARED] source...)
#   mxgpu_target_sources(target source...)     sources with kernels
#
# Sources that end in .maca, .cu and .hip are compiled by mxcc, the others as
# they are without this package. MXGPU_LANGUAGE of a source (maca, cu, hip) says
# what another one is. Properties of the target that count for mxcc:
# INCLUDE_DIRECTORIES, COMPILE_DEFINITIONS, and MXGPU_COMPILE_OPTIONS. Kernels of
# one target that refer to each other's files need MXGPU_SEPARABLE_COMPILATION.
get_filename_component(MXGPU_ROOT "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(MXGPU_MXCC "${MXGPU_ROOT}/mxgpu_llvm/bin/mxcc")
set(MXGPU_INCLUDE_DIRS "${MXGPU_ROOT}/include")
set(MXGPU_LIBRARY_DIR "${MXGPU_ROOT}/lib")

function(_mxgpu_imported name file)
    if(NOT TARGET mxgpu::${name})
        add_library(mxgpu::${name} SHARED IMPORTED)
        set_target_properties(mxgpu::${name} PROPERTIES
            IMPORTED_LOCATION "${MXGPU_LIBRARY_DIR}/${file}"
            INTERFACE_INCLUDE_DIRECTORIES "${ARGN}")
    endif()
endfunction()

_mxgpu_imported(runtime libmcruntime.so "${MXGPU_INCLUDE_DIRS}")
foreach(_mxgpu_name cuda hip)
    _mxgpu_imported(${_mxgpu_name} libmcruntime_${_mxgpu_name}.so
        "${MXGPU_INCLUDE_DIRS}/mxgpu-${_mxgpu_name};${MXGPU_INCLUDE_DIRS}")
    set_target_properties(mxgpu::${_mxgpu_name} PROPERTIES
        INTERFACE_LINK_LIBRARIES mxgpu::runtime)
endforeach()

function(_mxgpu_language source result)
    get_source_file_property(language "${source}" MXGPU_LANGUAGE)
    if(NOT language)
        get_filename_component(suffix "${source}" LAST_EXT)
        set(language "")
        if(suffix STREQUAL ".maca")
            set(language maca)
        elseif(suffix STREQUAL ".cu")
            set(language cu)
        elseif(suffix STREQUAL ".hip")
            set(language hip)
        endif()
    endif()
    set(${result} "${language}" PARENT_SCOPE)
endfunction()

# A command that makes an object of a source with kernels.
function(_mxgpu_compile target source language object)
    get_filename_component(path "${source}" ABSOLUTE)
    set(includes $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
    set(definitions $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>)
    set(separable
        $<BOOL:$<TARGET_PROPERTY:${target},MXGPU_SEPARABLE_COMPILATION>>)
    get_target_property(kind ${target} TYPE)
    add_custom_command(
        OUTPUT "${object}"
        COMMAND "${MXGPU_MXCC}" -c -x ${language} "${path}" -o "${object}"
            "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>"
            "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>"
            "$<${separable}:-fgpu-rdc>"
            "$<$<STREQUAL:${kind},SHARED_LIBRARY>:-fPIC>"
            "$<$<CONFIG:Debug>:-g>" "$<$<CONFIG:Release>:-O3>"
            "$<$<CONFIG:RelWithDebInfo>:-O2;-lineinfo>"
            "$<TARGET_PROPERTY:${target},MXGPU_COMPILE_OPTIONS>"
            -MD -MF "${object}.d" -MT "${object}"
        DEPENDS "${path}" "${MXGPU_MXCC}"
        DEPFILE "${object}.d"
        COMMENT "Compiling kernels of ${source}"
        COMMAND_EXPAND_LISTS VERBATIM)
endfunction()

function(mxgpu_target_sources target)
    set(number 0)
    set(objects)
    foreach(source IN LISTS ARGN)
        _mxgpu_language("${source}" language)
        if(NOT language)
            target_sources(${target} PRIVATE "${source}")
            continue()
        endif()
        get_filename_component(name "${source}" NAME)
        get_target_property(before ${target} MXGPU_OBJECTS)
        if(NOT before)
            set(before 0)
        endif()
        math(EXPR before "${before} + 1")
        set_target_properties(${target} PROPERTIES MXGPU_OBJECTS ${before})
        set(object "${CMAKE_CURRENT_BINARY_DIR}/${target}.mxgpu")
        file(MAKE_DIRECTORY "${object}")
        set(object "${object}/${before}-${name}.o")
        _mxgpu_compile(${target} "${source}" ${language} "${object}")
        set_source_files_properties("${object}" PROPERTIES
            EXTERNAL_OBJECT TRUE GENERATED TRUE)
        target_sources(${target} PRIVATE "${object}")
        list(APPEND objects "${object}")
        if(language STREQUAL "cu")
            target_link_libraries(${target} PRIVATE mxgpu::cuda)
        elseif(language STREQUAL "hip")
            target_link_libraries(${target} PRIVATE mxgpu::hip)
        endif()
    endforeach()
    target_link_libraries(${target} PRIVATE mxgpu::runtime)
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
    set_property(TARGET ${target} APPEND PROPERTY
        BUILD_RPATH "${MXGPU_LIBRARY_DIR}")
    get_target_property(separable ${target} MXGPU_SEPARABLE_COMPILATION)
    if(separable AND objects)
        # One image of the device code of all of them, where programs look.
        set(linked "${CMAKE_CURRENT_BINARY_DIR}/${target}.mxgpu/linked.o")
        add_custom_command(
            OUTPUT "${linked}"
            COMMAND "${MXGPU_MXCC}" -dlink ${objects} -o "${linked}"
            DEPENDS ${objects}
            COMMENT "Linking kernels of ${target}" VERBATIM)
        set_source_files_properties("${linked}" PROPERTIES
            EXTERNAL_OBJECT TRUE GENERATED TRUE)
        target_sources(${target} PRIVATE "${linked}")
    endif()
endfunction()

set(_MXGPU_EMPTY "${CMAKE_CURRENT_LIST_DIR}/empty.cpp")

function(mxgpu_add_executable name)
    add_executable(${name} "${_MXGPU_EMPTY}")
    mxgpu_target_sources(${name} ${ARGN})
endfunction()

function(mxgpu_add_library name)
    set(kind)
    if("${ARGV1}" MATCHES "^(STATIC|SHARED)$")
        set(kind ${ARGV1})
        list(REMOVE_AT ARGN 0)
    endif()
    add_library(${name} ${kind} "${_MXGPU_EMPTY}")
    mxgpu_target_sources(${name} ${ARGN})
endfunction()

set(mxgpu_FOUND TRUE)
