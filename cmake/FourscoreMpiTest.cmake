# fourscore_add_mpi_test(NAME SOURCES file... [RANKS 1 2 ...] [LIBRARIES target...] [TIMEOUT seconds])
#
# Builds one GoogleTest program whose main() (tests/mpi/mpi_main.cpp) starts MPI, and adds the test NAME.<ranks> for
# each rank count (default 1 2 3 4 5 6 7 8), labelled mpi. FOURSCORE_TEST_RANKS, when set, keeps only those it names: the
# sanitizers and MPICH repeat what the ci preset does at every count.
set(FOURSCORE_TEST_RANKS "" CACHE STRING "Rank counts of the MPI tests; empty: all of each test")

function(fourscore_add_mpi_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;RANKS;LIBRARIES")
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "fourscore_add_mpi_test(${name}): SOURCES is missing")
  endif()
  if(NOT arg_RANKS)
    set(arg_RANKS 1 2 3 4 5 6 7 8)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()

  add_executable(${name} ${arg_SOURCES} ${PROJECT_SOURCE_DIR}/tests/mpi/mpi_main.cpp)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE fourscore_core fourscore_local fourscore_exchanges fourscore_variants fourscore_hwcounters
    GTest::gmock GTest::gtest ${arg_LIBRARIES})
  fourscore_precompile(${name} TESTS OPENMP)

  foreach(ranks IN LISTS arg_RANKS)
    if(FOURSCORE_TEST_RANKS AND NOT ranks IN_LIST FOURSCORE_TEST_RANKS)
      continue()
    endif()
    add_test(NAME ${name}.${ranks}
      COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${MPIEXEC_PREFLAGS} $<TARGET_FILE:${name}> ${MPIEXEC_POSTFLAGS})
    set_tests_properties(${name}.${ranks} PROPERTIES LABELS mpi TIMEOUT ${arg_TIMEOUT} PROCESSORS ${ranks} FIXTURES_REQUIRED skips
      ENVIRONMENT "${FOURSCORE_TEST_ENVIRONMENT}")
  endforeach()
endfunction()
