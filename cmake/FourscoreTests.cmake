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
# Sanitized programs exit at the first finding. Leaks are looked for in the unit tests alone: MPI libraries keep memory to
# the end and unload the plugins that could be named in a list of suppressions.
if(FOURSCORE_SANITIZE)
  list(APPEND FOURSCORE_TEST_ENVIRONMENT "UBSAN_OPTIONS=print_stacktrace=1")
  set(FOURSCORE_UNIT_TEST_ENVIRONMENT ${FOURSCORE_TEST_ENVIRONMENT})
  list(APPEND FOURSCORE_TEST_ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0")
else()
  set(FOURSCORE_UNIT_TEST_ENVIRONMENT ${FOURSCORE_TEST_ENVIRONMENT})
endif()

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
    ENVIRONMENT "${FOURSCORE_TEST_ENVIRONMENT};${arg_ENVIRONMENT}")
endfunction()
