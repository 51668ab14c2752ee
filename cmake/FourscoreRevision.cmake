# What the sources were at build time: run with -P before every build, writes OUTPUT only when it changes. Outside git,
# or where git refuses, the revision is that of `git archive`, else "unknown". The hash of uncommitted changes covers what is compiled.
set(paths CMakeLists.txt cmake core drivers hwcounters results)
set(revision "unknown")
set(date "")
set(dirty "")
# `git archive` puts both into this file.
file(READ "${SOURCE_DIR}/cmake/archived-revision.txt" archived)
if(archived MATCHES "^([0-9a-f]+) ([0-9-]+)")
  set(revision "${CMAKE_MATCH_1}")
  set(date "${CMAKE_MATCH_2}")
endif()
find_program(GIT_EXECUTABLE git)
if(GIT_EXECUTABLE AND EXISTS "${SOURCE_DIR}/.git")
  execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse HEAD WORKING_DIRECTORY "${SOURCE_DIR}"
    OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
  if(status EQUAL 0)
    set(revision "${head}")
    execute_process(COMMAND ${GIT_EXECUTABLE} show --no-patch --format=%cs HEAD WORKING_DIRECTORY "${SOURCE_DIR}"
      OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    execute_process(COMMAND ${GIT_EXECUTABLE} diff HEAD --no-ext-diff --no-color -- ${paths}
      WORKING_DIRECTORY "${SOURCE_DIR}" OUTPUT_VARIABLE changes ERROR_QUIET)
    execute_process(COMMAND ${GIT_EXECUTABLE} ls-files --others --exclude-standard -- ${paths}
      WORKING_DIRECTORY "${SOURCE_DIR}" OUTPUT_VARIABLE untracked OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    string(REPLACE "\n" ";" untracked "${untracked}")
    foreach(file IN LISTS untracked)
      file(SHA256 "${SOURCE_DIR}/${file}" hash)
      string(APPEND changes "${file} ${hash}\n")
    endforeach()
    if(changes)
      string(SHA256 dirty "${changes}")
    endif()
  endif()
endif()

set(shown "${VERSION}")
if(NOT revision STREQUAL "unknown")
  string(SUBSTRING "${revision}" 0 12 short)
  string(APPEND shown " (${short}, ${date})")
  if(dirty)
    string(REPLACE ")" ", changed)" shown "${shown}")
  endif()
endif()
set(text "#pragma once
// Generated at build time by cmake/FourscoreRevision.cmake.
namespace fourscore::build_info {
inline constexpr const char* revision = \"${revision}\";
inline constexpr const char* shown_version = \"${shown}\";
inline constexpr const char* dirty_sha256 = \"${dirty}\";
}  // namespace fourscore::build_info
")
set(before "")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" before)
endif()
if(NOT text STREQUAL before)
  file(WRITE "${OUTPUT}" "${text}")
endif()
