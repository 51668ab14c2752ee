# Valgrind, which simulates the cache of the counter backend callgrind, knows no AVX-512. Where this build has such
# instructions, the two programs that count are built once more without them, into simulator/ of the build folder; the
# backend takes them by itself (hwcounters/callgrind.cpp), and their records say so. That takes a sixth of the whole
# build: the preset ci leaves it to the tests that need it (FourscoreTests.cmake).
set(FOURSCORE_SIMULATOR AUTO CACHE STRING
  "Programs built once more for Valgrind: AUTO (where this build has AVX-512), ASKED (as AUTO, with the target fourscore_simulator alone), ON, OFF")
set_property(CACHE FOURSCORE_SIMULATOR PROPERTY STRINGS AUTO ASKED ON OFF)
if(NOT FOURSCORE_SIMULATOR MATCHES "^(AUTO|ASKED|ON|OFF)$")
  message(FATAL_ERROR "FOURSCORE_SIMULATOR is '${FOURSCORE_SIMULATOR}'; expected AUTO, ASKED, ON or OFF")
endif()

set(reason "")
if(FOURSCORE_SIMULATOR MATCHES "^(AUTO|ASKED)$" AND NOT FOURSCORE_HAS_AVX512)
  set(reason "this build runs under Valgrind as it is")
elseif(FOURSCORE_SIMULATOR STREQUAL "OFF")
  set(reason "FOURSCORE_SIMULATOR is OFF")
elseif(NOT FOURSCORE_VALGRIND_INCLUDE_DIR)
  set(reason "no valgrind/callgrind.h found")
elseif(NOT MPI_C_FOUND)
  set(reason "FOURSCORE_MPI is none")
elseif(FOURSCORE_SANITIZE)
  set(reason "programs with a sanitizer do not run under Valgrind")
endif()
if(reason)
  fourscore_optional("Build for Valgrind" off "${reason}")
  return()
endif()
fourscore_optional("Build for Valgrind" found "fft_bench and counter_bench once more, without AVX-512")

# What chooses compilers and libraries is handed on, as it stands in this build's cache, but for the accelerators, whose
# drivers do not run under Valgrind.
set(handed_on "-DFOURSCORE_WITH_CUDA:BOOL=OFF" "-DFOURSCORE_WITH_OPENCL:BOOL=OFF" "-DFOURSCORE_NATIVE:BOOL=OFF"
  "-DFOURSCORE_AVX512:STRING=OFF" "-DFOURSCORE_SIMULATOR:STRING=OFF" "-DFOURSCORE_FOR_SIMULATOR:BOOL=ON")
get_cmake_property(cached CACHE_VARIABLES)
foreach(variable IN LISTS cached)
  if(variable MATCHES "^(CMAKE_BUILD_TYPE|CMAKE_(C|CXX|Fortran)_(COMPILER|FLAGS.*|COMPILER_LAUNCHER)|CMAKE_PREFIX_PATH|CMAKE_MAKE_PROGRAM|FOURSCORE_(MPI|PYTHON|WERROR|WITH_[A-Z_]+)|MPI_C_COMPILER|MPIEXEC_EXECUTABLE|.*_(ROOT|DIR|LIBRARY|INCLUDE_DIR))$"
     AND NOT variable MATCHES "_(BINARY|SOURCE)_DIR$|^FOURSCORE_WITH_(CUDA|OPENCL)$")
    get_property(type CACHE ${variable} PROPERTY TYPE)
    if(NOT "${${variable}}" STREQUAL "" AND NOT type MATCHES "^(INTERNAL|STATIC)$")
      list(APPEND handed_on "-D${variable}:${type}=${${variable}}")
    endif()
  endif()
endforeach()

# Valgrind's memcheck takes a test from there too (tests/drivers).
set(simulator_programs fft_bench counter_bench)
if(FOURSCORE_TESTS AND (NOT DEFINED FOURSCORE_TEST_KINDS OR "mpi" IN_LIST FOURSCORE_TEST_KINDS))
  list(APPEND simulator_programs property_test)
  list(APPEND handed_on "-DFOURSCORE_TESTS:BOOL=ON" "-DFOURSCORE_TEST_KINDS:STRING=mpi")
else()
  list(APPEND handed_on "-DFOURSCORE_TESTS:BOOL=OFF")
endif()

set(unless_asked)
set(where_built)
if(FOURSCORE_SIMULATOR STREQUAL "ASKED")
  set(unless_asked EXCLUDE_FROM_ALL TRUE)
  set(where_built OPTIONAL)
endif()
include(ExternalProject)
set(simulator_dir "${CMAKE_BINARY_DIR}/simulator")
ExternalProject_Add(fourscore_simulator SOURCE_DIR "${PROJECT_SOURCE_DIR}" BINARY_DIR "${simulator_dir}" PREFIX "${simulator_dir}/prefix"
  CMAKE_CACHE_ARGS ${handed_on} BUILD_ALWAYS ON ${unless_asked} DEPENDS fft_bench counter_bench fourscore
  BUILD_COMMAND "${CMAKE_COMMAND}" --build <BINARY_DIR> --target ${simulator_programs} INSTALL_COMMAND "")
install(PROGRAMS "${simulator_dir}/bin/fft_bench" "${simulator_dir}/bin/counter_bench"
  DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/fourscore/simulator" ${where_built})
