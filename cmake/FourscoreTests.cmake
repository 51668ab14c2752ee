# The environment that every test runs in, and how a test that is a command is added.

# Open MPI refuses root and more ranks than cores unless told. Ranks that share a core must yield while they wait, which
# Open MPI does when told, and MPICH with our help (see the file).
set(FOURSCORE_TEST_ENVIRONMENT
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1)
if(MPI_C_FOUND AND FOURSCORE_MPI_VENDOR STREQUAL "mpich")
  add_library(fourscore_yield_when_idle MODULE ${PROJECT_SOURCE_DIR}/tests/support/yield_when_idle.c)
  set_target_properties(fourscore_yield_when_idle PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
  target_link_libraries(fourscore_yield_when_idle PRIVATE ${CMAKE_DL_LIBS})
  list(APPEND FOURSCORE_TEST_ENVIRONMENT "LD_PRELOAD=${CMAKE_BINARY_DIR}/lib/libfourscore_yield_when_idle.so")
endif()
# Every skipped test writes a line into this file (tests/support/skips.hpp, record_skips.py). The fixture `skips` empties
# it before the first test and holds it against the skips that are expected after the last (tests/skips.py).
set(FOURSCORE_SKIPS_FILE "${CMAKE_BINARY_DIR}/skips.tsv")
list(APPEND FOURSCORE_TEST_ENVIRONMENT "FOURSCORE_TEST_SKIPS=${FOURSCORE_SKIPS_FILE}")

# Sanitized programs exit at the first finding. MPI libraries keep memory to the end: they are named in a list, and stay
# loaded to the end of the program, so that the leak sanitizer can tell whose memory it is.
if(FOURSCORE_SANITIZE)
  add_library(fourscore_keep_loaded MODULE ${PROJECT_SOURCE_DIR}/tests/support/keep_loaded.c)
  set_target_properties(fourscore_keep_loaded PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
  list(APPEND FOURSCORE_TEST_ENVIRONMENT "UBSAN_OPTIONS=print_stacktrace=1" "ASAN_OPTIONS=verify_asan_link_order=0"
    "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/leaks.supp:print_suppressions=0"
    "LD_PRELOAD=${CMAKE_BINARY_DIR}/lib/libfourscore_keep_loaded.so")
endif()
set(FOURSCORE_UNIT_TEST_ENVIRONMENT ${FOURSCORE_TEST_ENVIRONMENT})

# fourscore_test(NAME <name> LABELS <label>... COMMAND <command>... [TIMEOUT <seconds>] [PROCESSORS <n>]
#                [WORKING_DIRECTORY <dir>] [ENVIRONMENT <name=value>...])
function(fourscore_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;TIMEOUT;PROCESSORS;WORKING_DIRECTORY" "LABELS;COMMAND;ENVIRONMENT")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  if(NOT arg_PROCESSORS)
    set(arg_PROCESSORS 1)
  endif()
  if(NOT arg_WORKING_DIRECTORY)
    set(arg_WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
  endif()
  add_test(NAME ${arg_NAME} COMMAND ${arg_COMMAND} WORKING_DIRECTORY "${arg_WORKING_DIRECTORY}")
  set_tests_properties(${arg_NAME} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} PROCESSORS ${arg_PROCESSORS}
    FIXTURES_REQUIRED skips ENVIRONMENT "${FOURSCORE_TEST_ENVIRONMENT};${arg_ENVIRONMENT}")
endfunction()

# fourscore_pytest(<label> [WITHOUT <part>...] [ALONE <part>...] [WORKING_DIRECTORY <dir>] [ENVIRONMENT <name=value>...])
#
# Every test_<part>.py of the folder is a test <label>.<part>. Most wait for programs that they start, so two run at once;
# those of ALONE look at what a program does with the cores of the machine. The longest begin first (COST).
function(fourscore_pytest label)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "WORKING_DIRECTORY" "WITHOUT;ALONE;ENVIRONMENT")
  file(GLOB files CONFIGURE_DEPENDS test_*.py)
  foreach(file IN LISTS files)
    cmake_path(GET file STEM part)
    string(REGEX REPLACE "^test_" "" part "${part}")
    if(part IN_LIST arg_WITHOUT)
      continue()
    endif()
    set(processors 1)
    if(part IN_LIST arg_ALONE)
      set(processors 2)
    endif()
    fourscore_test(NAME ${label}.${part} LABELS ${label} TIMEOUT 900 PROCESSORS ${processors} WORKING_DIRECTORY "${arg_WORKING_DIRECTORY}"
      COMMAND "${FOURSCORE_PYTHON}" -m pytest -q -p no:cacheprovider -p record_skips "${file}"
      ENVIRONMENT PYTHONDONTWRITEBYTECODE=1 "PYTHONPATH=${PROJECT_SOURCE_DIR}/tests/support" ${arg_ENVIRONMENT})
    set_tests_properties(${label}.${part} PROPERTIES COST 60)
  endforeach()
endfunction()
