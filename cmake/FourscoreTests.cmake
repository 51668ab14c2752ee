# The environment that every test runs in, and how a test that is a command is added.

# Open MPI refuses root and more ranks than cores unless told; ranks that share a core must yield while they wait.
set(FOURSCORE_TEST_ENVIRONMENT
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1)
# Sanitized programs exit at the first finding; leaks are looked for in our own frames only (lsan.supp names the rest).
if(FOURSCORE_SANITIZE)
  list(APPEND FOURSCORE_TEST_ENVIRONMENT "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/lsan.supp:print_suppressions=0"
    "UBSAN_OPTIONS=print_stacktrace=1")
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
