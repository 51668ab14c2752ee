# One interface target with what every target of ours compiles with. Warnings and -march stay out of the installed
# package: they are ours, not our users'.
add_library(fourscore_compile INTERFACE)
add_library(fourscore::compile ALIAS fourscore_compile)
target_compile_features(fourscore_compile INTERFACE cxx_std_20)
# -Wconversion brings -Wsign-conversion along in Clang only; both compilers check the same here.
target_compile_options(fourscore_compile INTERFACE
  $<BUILD_INTERFACE:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion;-Wno-sign-conversion>
  $<BUILD_INTERFACE:$<$<BOOL:${FOURSCORE_WERROR}>:-Werror>>
  $<BUILD_INTERFACE:$<$<BOOL:${FOURSCORE_NATIVE}>:-march=native>>
  $<BUILD_INTERFACE:${FOURSCORE_AVX512_FLAG}>
  # GCC's collector reads all of a precompiled header anew each time: a tenth of a build.
  $<BUILD_INTERFACE:$<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288>>
  $<BUILD_INTERFACE:$<$<AND:$<BOOL:${FOURSCORE_CCACHE}>,$<CXX_COMPILER_ID:GNU>>:-fpch-preprocess>>)
if(FOURSCORE_SANITIZE)
  target_compile_definitions(fourscore_compile INTERFACE $<BUILD_INTERFACE:FOURSCORE_SANITIZED>)
  # Not vptr: its check opens a pipe, and calls it an error where a process may open no further file.
  target_compile_options(fourscore_compile INTERFACE -fsanitize=${FOURSCORE_SANITIZE} -fno-sanitize=vptr -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(fourscore_compile INTERFACE -fsanitize=${FOURSCORE_SANITIZE})
endif()

# What most files read first, parsed once: half of a build's time otherwise. A precompiled header serves the targets of
# the same compiler options, so there is one for each of the few combinations. -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON
# compiles without (the preset mpich does, so that a missing #include is found). json.hpp only for Clang: GCC instantiates
# the parser, which its literals name, in each file that a precompiled header brings it to (half a second of each).
set(FOURSCORE_COMMON_HEADERS <algorithm> <array> <complex> <cstddef> <filesystem> <fstream> <functional> <map> <memory> <optional>
  <span> <string> <string_view> <vector> <fmt/format.h> <fmt/ranges.h>)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  list(APPEND FOURSCORE_COMMON_HEADERS <nlohmann/json.hpp>)
endif()

# fourscore_precompile(<target>... [TESTS | UNTIMED] [OPENMP] [TOGETHER | PARTS_TOGETHER]): TESTS adds GoogleTest's
# headers. UNTIMED is for what no time depends on. A release build compiles the one with -Og and the other with -O1
# (which reads records half as fast again), in half to two thirds of the time.
# They have precompiled headers of their own, for GCC optimises a file as its precompiled header was, whatever else it
# is told.
# TOGETHER compiles many files as one, which takes a third to a half of the time (-DCMAKE_UNITY_BUILD=OFF: each alone, for
# who edits one of them often): for files that share large headers and no names. PARTS_TOGETHER leaves out those that
# register an entry (a variant, exchange, counter backend, launcher, ...), so that who adds one may name its parts as they
# like.
function(fourscore_precompile)
  cmake_parse_arguments(PARSE_ARGV 0 arg "TESTS;OPENMP;UNTIMED;TOGETHER;PARTS_TOGETHER" "" "")
  set(precompiled fourscore_precompiled)
  set(headers ${FOURSCORE_COMMON_HEADERS})
  set(libraries fourscore::compile nlohmann_json::nlohmann_json fmt::fmt Threads::Threads)
  set(options)
  if(arg_TESTS AND CMAKE_BUILD_TYPE STREQUAL "Release")
    set(options -Og)
  elseif(arg_UNTIMED AND CMAKE_BUILD_TYPE STREQUAL "Release")
    set(options -O1)
  endif()
  if(arg_TESTS)
    string(APPEND precompiled _tests)
    list(APPEND headers <gtest/gtest.h> <gmock/gmock.h>)
    list(APPEND libraries GTest::gmock)
  elseif(options)
    string(APPEND precompiled _untimed)
  endif()
  if(arg_OPENMP AND OpenMP_CXX_FOUND)
    string(APPEND precompiled _openmp)
    list(APPEND libraries OpenMP::OpenMP_CXX)
  endif()
  if(NOT TARGET ${precompiled})
    file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/CMakeFiles/${precompiled}.cpp" CONTENT "")
    add_library(${precompiled} OBJECT "${CMAKE_BINARY_DIR}/CMakeFiles/${precompiled}.cpp")
    target_link_libraries(${precompiled} PRIVATE ${libraries})
    target_compile_options(${precompiled} PRIVATE ${options})
    target_precompile_headers(${precompiled} PRIVATE ${headers})
  endif()
  foreach(target IN LISTS arg_UNPARSED_ARGUMENTS)
    target_precompile_headers(${target} REUSE_FROM ${precompiled})
    target_compile_options(${target} PRIVATE ${options})
    if((arg_TOGETHER OR arg_PARTS_TOGETHER) AND NOT DEFINED CMAKE_UNITY_BUILD AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 18)
    endif()
    if(arg_PARTS_TOGETHER)
      get_target_property(sources ${target} SOURCES)
      foreach(source IN LISTS sources)
        file(STRINGS ${source} registered REGEX "^ *FOURSCORE_REGISTER_|Registry::instance[(][)][.]add[(]" LIMIT_COUNT 1)
        if(registered)
          set_property(SOURCE ${source} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
        endif()
      endforeach()
    endif()
  endforeach()
endfunction()
