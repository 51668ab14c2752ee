# fourscore_add_mpi_test(FOLDER/NAME [ALONE | TOGETHER FOLDER/NAME...] [FIXTURES name...] [SOURCES file...]
#                        [RANKS 1 2 ...] [SLOW 2 3 ...] [LIBRARIES target...] [TIMEOUT seconds] [THREAD_MULTIPLE])
#
# FOLDER/NAME.cpp joins the program of its folder, drivers_FOLDER_test: headers, linking and starting are most of what
# a small test costs. The program has NAME as another name, by which it runs the tests of this file
# (tests/support/mpi_main.cpp). ALONE gives the file a program of its own: for what shares no names or no fixtures
# with its neighbours, and for tests that others link again. TOGETHER makes one test of several files. main() starts
# MPI, with MPI_THREAD_MULTIPLE where asked (then ALONE). Adds the test NAME.<ranks> for each rank count (default 1 2
# 3 4 5 8), labelled mpi. FIXTURES are files of tests/support. FOURSCORE_TEST_RANKS, when set, keeps the first of its
# numbers that the test has: the sanitizers and MPICH repeat what the ci preset does at every count. Slow are more
# than 4 ranks, and 2 where there are 4, and those of SLOW: what the others pass seldom fails there. More than 4 also
# have the label rare (FourscoreTests.cmake). Where there are 5, too, 3 ranks have the label `once`: where `tests/run
# --all` has run them with the sanitizers, it leaves them out in ci. Ranks that yield while they wait come to little
# beside programs that do not, so a test counts as one process more than it has ranks.
set(FOURSCORE_TEST_RANKS "" CACHE STRING "Each MPI test runs on the first of these numbers of ranks that it has; empty: on all that it has")

function(fourscore_mpi_test_links target)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${target} PRIVATE fourscore_drivers fourscore_local fourscore_exchanges fourscore_operators fourscore_variants fourscore_hwcounters
    fourscore_naive_dft GTest::gmock GTest::gtest)
endfunction()

# The main program and the fixtures are compiled once for all tests that take them, and optimised: a test's time is what
# the fixtures compute.
function(fourscore_mpi_test_object object)
  if(TARGET fourscore_test_${object})
    return()
  endif()
  string(REGEX REPLACE "_multiple$" "" source "${object}")
  add_library(fourscore_test_${object} OBJECT ${PROJECT_SOURCE_DIR}/tests/support/${source}.cpp)
  fourscore_mpi_test_links(fourscore_test_${object})
  fourscore_precompile(fourscore_test_${object} OPENMP)
  if(object MATCHES "_multiple$")
    target_compile_definitions(fourscore_test_${object} PRIVATE FOURSCORE_TEST_THREAD_LEVEL=MPI_THREAD_MULTIPLE)
  endif()
endfunction()

function(fourscore_add_mpi_test file)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ALONE;THREAD_MULTIPLE" "TIMEOUT" "TOGETHER;FIXTURES;SOURCES;RANKS;SLOW;LIBRARIES")
  if(NOT arg_RANKS)
    set(arg_RANKS 1 2 3 4 5 8)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()

  set(main mpi_main)
  if(arg_THREAD_MULTIPLE)
    set(main mpi_main_multiple)
  endif()
  cmake_path(GET file STEM name)
  cmake_path(GET file PARENT_PATH folder)
  set(together TOGETHER)
  set(program drivers_${folder}_test)
  if(arg_TOGETHER)
    set(file ${arg_TOGETHER})
    set(program ${name})
  elseif(arg_ALONE OR arg_THREAD_MULTIPLE)
    set(together)
    set(program ${name})
  endif()
  list(TRANSFORM file APPEND .cpp)
  if(NOT TARGET ${program})
    add_executable(${program})
    fourscore_mpi_test_links(${program})
    fourscore_precompile(${program} TESTS OPENMP ${together})
  endif()
  target_sources(${program} PRIVATE ${file} ${arg_SOURCES})
  target_link_libraries(${program} PRIVATE ${arg_LIBRARIES})
  get_target_property(sources ${program} SOURCES)
  foreach(object IN LISTS main arg_FIXTURES)
    fourscore_mpi_test_object(${object})
    if(NOT "$<TARGET_OBJECTS:fourscore_test_${object}>" IN_LIST sources)
      target_sources(${program} PRIVATE $<TARGET_OBJECTS:fourscore_test_${object}>)
    endif()
  endforeach()
  if(NOT program STREQUAL name)
    add_custom_command(TARGET ${program} POST_BUILD VERBATIM
      COMMAND ${CMAKE_COMMAND} -E create_symlink ${program} ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name})
    add_custom_target(${name} DEPENDS ${program})
  endif()

  foreach(preferred IN LISTS FOURSCORE_TEST_RANKS)
    if(preferred IN_LIST arg_RANKS)
      set(arg_RANKS ${preferred})
      break()
    endif()
  endforeach()
  foreach(ranks IN LISTS arg_RANKS)
    set(labels mpi)
    if((ranks GREATER 4 OR (ranks EQUAL 2 AND 4 IN_LIST arg_RANKS) OR ranks IN_LIST arg_SLOW) AND NOT FOURSCORE_TEST_RANKS)
      list(APPEND labels slow)
    endif()
    if(ranks GREATER 4 AND NOT FOURSCORE_TEST_RANKS)
      list(APPEND labels rare)
    endif()
    if(ranks EQUAL 3 AND 5 IN_LIST arg_RANKS AND NOT FOURSCORE_TEST_RANKS)
      list(APPEND labels once)
    endif()
    set(processors ${ranks})
    if(ranks GREATER 1)
      math(EXPR processors "${ranks} + 1")
    endif()
    fourscore_test(NAME ${name}.${ranks} LABELS ${labels} TIMEOUT ${arg_TIMEOUT} PROCESSORS ${processors}
      COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${MPIEXEC_PREFLAGS} ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name} ${MPIEXEC_POSTFLAGS})
  endforeach()
endfunction()
