# The environment that every test runs in, and how a test that is a command is added.

# Open MPI refuses root and more ranks than cores unless told. Ranks that share a core must yield while they wait, which
# Open MPI does when told, and MPICH with our help (see the file). Open MPI binds the ranks of each program to the same
# first cores unless told, where tests that run at once would wait for each other. Threads of OpenMP that wait for work
# spin unless told, each on a core that a test beside it could use. Open MPI asks hwloc for devices when a rank starts,
# and hwloc the OpenCL drivers that are listed in a folder, which compile kernels and leave files: only tests of OpenCL
# shall (hwloc's own HWLOC_COMPONENTS would have HWLOC_XMLFILE ignored). Looking for network adapters takes Open MPI half
# of a short program's time.
set(FOURSCORE_TEST_ENVIRONMENT
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
  OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_pml=ob1 OMP_WAIT_POLICY=passive "OCL_ICD_VENDORS=${CMAKE_BINARY_DIR}/no-opencl/")
# Tests of OpenCL see the drivers. pocl compiles a kernel for each plan, in half the time where it does not optimise; what
# it compiled stays in the build's folder.
set(FOURSCORE_OPENCL_TEST_ENVIRONMENT OCL_ICD_VENDORS=)
list(APPEND FOURSCORE_TEST_ENVIRONMENT "POCL_CACHE_DIR=${CMAKE_BINARY_DIR}/pocl" POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable)
set(preloaded)
if(MPI_C_FOUND AND FOURSCORE_MPI_VENDOR STREQUAL "mpich")
  add_library(fourscore_yield_when_idle MODULE ${PROJECT_SOURCE_DIR}/tests/support/yield_when_idle.c)
  set_target_properties(fourscore_yield_when_idle PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
  target_link_libraries(fourscore_yield_when_idle PRIVATE ${CMAKE_DL_LIBS})
  list(APPEND preloaded "${CMAKE_BINARY_DIR}/lib/libfourscore_yield_when_idle.so")
endif()
# What Python compiles it keeps in the build's folder, whatever the environment says: each command that loads the analysis
# takes twice as long where it is compiled again.
list(APPEND FOURSCORE_TEST_ENVIRONMENT PYTHONDONTWRITEBYTECODE= "PYTHONPYCACHEPREFIX=${CMAKE_BINARY_DIR}/pycache")
# Every skipped test writes a line into this file (tests/support/skips.hpp, record_skips.py). The fixture `skips` empties
# it before the first test and holds it against the skips that are expected after the last (tests/skips.py).
set(FOURSCORE_SKIPS_FILE "${CMAKE_BINARY_DIR}/skips.tsv")
list(APPEND FOURSCORE_TEST_ENVIRONMENT "FOURSCORE_TEST_SKIPS=${FOURSCORE_SKIPS_FILE}")

# Sanitized programs exit at the first finding. MPI libraries keep memory to the end: they are named in a list, and stay
# loaded to the end of the program, so that the leak sanitizer can tell whose memory it is. It does not learn where the
# thread-local memory of a library loaded later lies: it reads wrong bounds there, and falls. Eight callers of each
# allocation are kept, of 30. Such a program takes ten times as long: of many cases alike, which all run without
# sanitizers, tests take one in five, a number without a factor in common with those of what is combined.
if(FOURSCORE_SANITIZE)
  add_library(fourscore_keep_loaded MODULE ${PROJECT_SOURCE_DIR}/tests/support/keep_loaded.c)
  set_target_properties(fourscore_keep_loaded PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
  list(APPEND FOURSCORE_TEST_ENVIRONMENT FOURSCORE_TEST_ONE_IN=5 "UBSAN_OPTIONS=print_stacktrace=1" "ASAN_OPTIONS=verify_asan_link_order=0:intercept_tls_get_addr=0:malloc_context_size=8"
    "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/leaks.supp:print_suppressions=0")
  list(APPEND preloaded "${CMAKE_BINARY_DIR}/lib/libfourscore_keep_loaded.so")
endif()
if(preloaded)
  if(CMAKE_BINARY_DIR MATCHES " ")  # LD_PRELOAD takes no path with a space
    list(TRANSFORM preloaded REPLACE ".*/" "")
    list(APPEND FOURSCORE_TEST_ENVIRONMENT "LD_LIBRARY_PATH=${CMAKE_BINARY_DIR}/lib")
  endif()
  list(JOIN preloaded ":" preloaded)
  list(APPEND FOURSCORE_TEST_ENVIRONMENT "LD_PRELOAD=${preloaded}")
endif()
set(FOURSCORE_UNIT_TEST_ENVIRONMENT ${FOURSCORE_TEST_ENVIRONMENT})

# Slow, and seldom the first to fail: these also have the label `slow`. `tests/run` leaves them out, `tests/run
# --slow` and CI do not.
set(FOURSCORE_SLOW_TESTS "^(analysis\\.(browser|calibration|change_points|hostile)|contract\\.(clang_tidy|layering_finds_what_is_planted|optional_parts|readme_commands_run|site)|device_fft_test\\.1|jobs\\.(compare_builds|exact_baseline|history|job_states|real|report|slurm|slurm_accounting|slurm_campaigns|slurm_page|submit)|drivers\\.(counting|energy|examples|four_nodes|many_ranks)|opencl\\.device_plan_test\\.2|package\\.wheel|valgrind\\..*)$")

# Slow tests that fail the most seldom for what they take also have the label `rare`, as have those on more than 4 ranks:
# `tests/run --rare-within` leaves them out where a machine is slow.
set(FOURSCORE_RARE_TESTS "^(analysis\\.(calibration|change_points|hostile)|drivers\\.(energy|four_nodes|many_ranks)|jobs\\.compare_builds|opencl\\.device_plan_test\\.2|package\\.wheel|valgrind\\.every_variant_with_every_exchange)$")

# These count for real under Valgrind, and so need the second build where there is one (FourscoreSimulator.cmake). The
# first of them to run has it made; since that takes minutes they are slow there. Single tests elsewhere that need it are
# skipped until it is made.
set(FOURSCORE_SIMULATED_TESTS "^(contract\\.readme_commands_run|drivers\\.(counting|examples)|jobs\\.(counters|exact_baseline|real)|valgrind\\..*)$")
if(TARGET fourscore_simulator)
  add_test(NAME simulator.is_built COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target fourscore_simulator)
  set_tests_properties(simulator.is_built PROPERTIES FIXTURES_SETUP simulator LABELS slow TIMEOUT 1800 RUN_SERIAL TRUE)
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
  if("once" IN_LIST arg_LABELS)  # no other configuration takes all of its cases
    list(APPEND arg_ENVIRONMENT FOURSCORE_TEST_ONE_IN=1)
  endif()
  set(fixtures skips)
  if(TARGET fourscore_simulator AND arg_NAME MATCHES "${FOURSCORE_SIMULATED_TESTS}")
    list(APPEND fixtures simulator)
  endif()
  if(arg_NAME MATCHES "${FOURSCORE_SLOW_TESTS}" OR "simulator" IN_LIST fixtures)
    list(APPEND arg_LABELS slow)
  endif()
  if(arg_NAME MATCHES "${FOURSCORE_RARE_TESTS}")
    list(APPEND arg_LABELS rare)
  endif()
  add_test(NAME ${arg_NAME} COMMAND ${arg_COMMAND} WORKING_DIRECTORY "${arg_WORKING_DIRECTORY}")
  set_tests_properties(${arg_NAME} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} PROCESSORS ${arg_PROCESSORS}
    FIXTURES_REQUIRED "${fixtures}" ENVIRONMENT "${FOURSCORE_TEST_ENVIRONMENT};${arg_ENVIRONMENT}")
endfunction()

# fourscore_unit_tests(<folder>...): the <name>_test.cpp of a folder a/b are a program a_b_test without MPI, of kind unit.
# They find data in the folder's data/ (FOURSCORE_TEST_DATA).
function(fourscore_unit_tests)
  if(NOT "unit" IN_LIST FOURSCORE_TEST_KINDS)
    return()
  endif()
  add_library(fourscore_unit_main OBJECT ${PROJECT_SOURCE_DIR}/tests/support/unit_main.cpp)
  target_include_directories(fourscore_unit_main PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(fourscore_unit_main PUBLIC fourscore::compile fourscore_naive_dft GTest::gtest)
  foreach(folder IN LISTS ARGN)
    if(folder STREQUAL "drivers/local/tiled" AND NOT FOURSCORE_HIGHWAY)
      continue()
    endif()
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/*_test.cpp)
    string(REPLACE "/" "_" name "${folder}_test")
    add_executable(${name} ${sources})
    target_link_libraries(${name} PRIVATE fourscore_kernels GTest::gmock fourscore_unit_main)
    target_compile_definitions(${name} PRIVATE FOURSCORE_TEST_DATA="${CMAKE_CURRENT_SOURCE_DIR}/${folder}/data")
    foreach(library fourscore_results fourscore_hwcounters fourscore_qualification)
      if(TARGET ${library})
        target_link_libraries(${name} PRIVATE ${library})
      endif()
    endforeach()
    if(folder MATCHES "^drivers/local")
      target_link_libraries(${name} PRIVATE fourscore_local ${CMAKE_DL_LIBS})
    endif()
    if(folder STREQUAL "drivers/simulation" AND TARGET fourscore_simulation)
      target_link_libraries(${name} PRIVATE fourscore_simulation)
      target_compile_definitions(${name} PRIVATE FOURSCORE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    endif()
    if(folder MATCHES "^jobscripts")
      target_link_libraries(${name} PRIVATE fourscore_jobs fourscore_schedulers)
    endif()
    if(folder STREQUAL "jobscripts/launchers")
      target_link_libraries(${name} PRIVATE fourscore_launchers)
    endif()
    fourscore_precompile(${name} TESTS TOGETHER)
    fourscore_discover_unit_tests(${name})
  endforeach()
endfunction()

# fourscore_discover_unit_tests(<program> [<prefix of the tests' names>]): each test in a process of its own; with
# sanitizers all of a program in one, since such a program takes some 0.1 s to start, five hundred times. So too where
# asked (FOURSCORE_WHOLE_PROGRAMS): tests/mutation/run asks a program, not each of its tests, which lines it runs.
option(FOURSCORE_WHOLE_PROGRAMS "Each program of unit tests is one test, not each of its tests" OFF)
mark_as_advanced(FOURSCORE_WHOLE_PROGRAMS)
function(fourscore_discover_unit_tests program)
  if(FOURSCORE_SANITIZE OR FOURSCORE_WHOLE_PROGRAMS)
    fourscore_test(NAME ${program} LABELS unit TIMEOUT 600 COMMAND ${program})
    return()
  endif()
  gtest_discover_tests(${program} TEST_PREFIX "${ARGN}" DISCOVERY_MODE PRE_TEST
    PROPERTIES LABELS unit TIMEOUT 300 FIXTURES_REQUIRED skips ENVIRONMENT "${FOURSCORE_UNIT_TEST_ENVIRONMENT}")
endfunction()

# fourscore_pytest(<kind> [FOLDERS <folder>...] [WITHOUT <part>...] [ALONE <part>...] [WAITING <part>...] [ONCE <part>...]
#                  [TOGETHER <part>...] [BY_FOLDER] [WORKING_DIRECTORY <dir>] [ENVIRONMENT <name=value>...])
#
# Every test_<part>.py at or below the folders (default: this one) is a test <kind>.<part>. BY_FOLDER: those of a folder
# are one test together, <kind>.<folder>, where what each imports takes longer than it runs; a slow one stays by itself.
# So are those of TOGETHER, with the name of the first: they share what takes long to make. Most wait for programs that
# they start, so several run at once; those of ALONE look at what a program does with the cores of the machine, and
# count as more than ctest ever runs at once. Those of WAITING do little else than wait: one of each kind runs at a
# time, from the beginning on, so that others keep the cores busy. Those of ONCE are the same in every configuration,
# and have that label: `tests/run --all` runs them with the sanitizers only. Slow ones are left out there, and so do not
# have it. Where a kind has ONCE, a build with sanitizers has no others of it. Those that ask whether something counts
# here have the label counts, and run in each configuration: sanitized programs do not. The longest begin first (COST).
function(fourscore_pytest kind)
  if(NOT kind IN_LIST FOURSCORE_TEST_KINDS OR NOT FOURSCORE_PYTHON)
    return()  # without Python the configure summary says so
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "BY_FOLDER" "WORKING_DIRECTORY" "FOLDERS;WITHOUT;ALONE;WAITING;ONCE;TOGETHER;ENVIRONMENT")
  if(NOT arg_FOLDERS)
    set(arg_FOLDERS ${CMAKE_CURRENT_SOURCE_DIR})
  endif()
  list(TRANSFORM arg_FOLDERS APPEND "/test_*.py")
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${arg_FOLDERS})
  set(parts)
  foreach(file IN LISTS files)
    cmake_path(GET file STEM part)
    string(REGEX REPLACE "^test_" "" part "${part}")
    if(part IN_LIST arg_WITHOUT OR (FOURSCORE_SANITIZE AND arg_ONCE AND NOT part IN_LIST arg_ONCE))
      continue()
    endif()
    if(part IN_LIST arg_TOGETHER)
      list(GET arg_TOGETHER 0 part)
    endif()
    file(STRINGS "${file}" counts REGEX "skip_unless_counted|why_not_counted" LIMIT_COUNT 1)
    cmake_path(GET file PARENT_PATH folder)
    if(arg_BY_FOLDER AND NOT "${kind}.${part}" MATCHES "${FOURSCORE_SLOW_TESTS}")
      cmake_path(GET folder FILENAME part)
    endif()
    list(APPEND files_of_${part} "${file}")
    if(counts)
      list(APPEND parts_that_count ${part})
    endif()
    list(APPEND parts ${part})
  endforeach()
  list(REMOVE_DUPLICATES parts)
  foreach(part IN LISTS parts)
    set(processors 1)
    if(part IN_LIST arg_ALONE)
      set(processors 1000)
    endif()
    set(labels ${kind})
    if(part IN_LIST parts_that_count)
      list(APPEND labels counts)
    elseif(part IN_LIST arg_ONCE AND NOT "${kind}.${part}" MATCHES "${FOURSCORE_SLOW_TESTS}")
      list(APPEND labels once)
    endif()
    fourscore_test(NAME ${kind}.${part} LABELS ${labels} TIMEOUT 900 PROCESSORS ${processors} WORKING_DIRECTORY "${arg_WORKING_DIRECTORY}"
      COMMAND "${FOURSCORE_PYTHON}" -m pytest -q -p no:cacheprovider -p record_skips -p one_in ${files_of_${part}}
      ENVIRONMENT "PYTHONPATH=${PROJECT_SOURCE_DIR}/tests/support" ${arg_ENVIRONMENT})
    list(LENGTH files_of_${part} count)
    math(EXPR cost "60 * ${count}")
    set_tests_properties(${kind}.${part} PROPERTIES COST ${cost})
    if(part IN_LIST arg_WAITING)
      set_tests_properties(${kind}.${part} PROPERTIES COST 1000 RESOURCE_LOCK ${kind}_waiting)
    endif()
  endforeach()
endfunction()
