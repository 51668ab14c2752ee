# MPI by FOURSCORE_MPI. Sets MPI_C_FOUND, MPI::MPI_C, MPIEXEC_EXECUTABLE, and FOURSCORE_MPI_FFTW with
# FOURSCORE_MPI_FFTW_REASON: whether the fftw3_mpi at hand is built for this very MPI.

# find_package(MPI) caches what it found; another choice of MPI in the same build folder starts anew.
if(DEFINED FOURSCORE_MPI_CONFIGURED AND NOT FOURSCORE_MPI_CONFIGURED STREQUAL FOURSCORE_MPI)
  get_cmake_property(cached CACHE_VARIABLES)
  foreach(variable IN LISTS cached)
    if(variable MATCHES "^(MPI_|MPIEXEC_)")
      unset(${variable} CACHE)
    endif()
  endforeach()
endif()
set(FOURSCORE_MPI_CONFIGURED "${FOURSCORE_MPI}" CACHE INTERNAL "The FOURSCORE_MPI of the last configure run")

if(FOURSCORE_MPI STREQUAL "none")
  set(MPI_C_FOUND FALSE)
else()
  if(FOURSCORE_MPI MATCHES "^(openmpi|mpich)$")
    # Debian's names first; elsewhere a module provides one MPI under its plain names.
    find_program(MPI_C_COMPILER NAMES mpicc.${FOURSCORE_MPI} mpicc REQUIRED)
    find_program(MPIEXEC_EXECUTABLE NAMES mpiexec.${FOURSCORE_MPI} mpirun.${FOURSCORE_MPI} mpiexec REQUIRED)
  elseif(NOT FOURSCORE_MPI STREQUAL "default")
    message(FATAL_ERROR "FOURSCORE_MPI is '${FOURSCORE_MPI}'; expected default, openmpi, mpich or none")
  endif()
  set(MPI_CXX_SKIP_MPICXX ON)
  find_package(MPI 3.0 REQUIRED COMPONENTS C)

  file(WRITE "${CMAKE_BINARY_DIR}/CMakeFiles/which_mpi.c" "#include <mpi.h>
#if defined(OPEN_MPI)
#error which_mpi=openmpi
#elif defined(MPICH_NAME) || defined(MPICH_VERSION)
#error which_mpi=mpich
#else
#error which_mpi=other
#endif
")
  try_compile(unused "${CMAKE_BINARY_DIR}/CMakeFiles/which_mpi" "${CMAKE_BINARY_DIR}/CMakeFiles/which_mpi.c"
    LINK_LIBRARIES MPI::MPI_C OUTPUT_VARIABLE output)
  string(REGEX MATCH "which_mpi=([a-z]+)" unused "${output}")
  set(FOURSCORE_MPI_VENDOR "${CMAKE_MATCH_1}")
  if(FOURSCORE_MPI MATCHES "^(openmpi|mpich)$" AND NOT FOURSCORE_MPI STREQUAL FOURSCORE_MPI_VENDOR)
    message(FATAL_ERROR "FOURSCORE_MPI is ${FOURSCORE_MPI}, but ${MPI_C_COMPILER} compiles for '${FOURSCORE_MPI_VENDOR}'; "
      "expected mpicc.${FOURSCORE_MPI}, or an mpicc of it first in PATH, or -DMPI_C_COMPILER=...")
  endif()
endif()

# fourscore_other_mpi(<library> <variable>): empty, or how the library shows that it was built for another MPI than this
# one; linked together they would crash, not fail to link. A shared library names its libmpi; in a static one Open MPI's
# handles are symbols.
function(fourscore_other_mpi library variable)
  set(${variable} "" PARENT_SCOPE)
  set(sonames)
  set(needed)
  if(CMAKE_READELF)
    foreach(mpi IN LISTS MPI_C_LIBRARIES)
      if(EXISTS "${mpi}")
        execute_process(COMMAND ${CMAKE_READELF} -d "${mpi}" OUTPUT_VARIABLE dynamic ERROR_QUIET)
        if(dynamic MATCHES "SONAME[^[]*\\[([^]]+)\\]")
          list(APPEND sonames "${CMAKE_MATCH_1}")
        endif()
      endif()
    endforeach()
    execute_process(COMMAND ${CMAKE_READELF} -d "${library}" OUTPUT_VARIABLE dynamic ERROR_QUIET)
    string(REGEX MATCHALL "\\[libmpi[^]]*\\]" needed "${dynamic}")
    list(TRANSFORM needed REPLACE "[][]" "")
  endif()
  if(needed AND sonames)
    foreach(soname IN LISTS sonames)
      if(soname IN_LIST needed)
        return()
      endif()
    endforeach()
    set(${variable} "${library} is built for ${needed}, this MPI is ${sonames}" PARENT_SCOPE)
    return()
  endif()
  file(STRINGS "${library}" symbols REGEX "ompi_mpi_|mpi_fortran_" LIMIT_COUNT 1)
  if(symbols AND FOURSCORE_MPI_VENDOR STREQUAL "mpich")
    set(${variable} "${library} is built for Open MPI, this MPI is MPICH" PARENT_SCOPE)
  elseif(NOT symbols AND FOURSCORE_MPI_VENDOR STREQUAL "openmpi")
    set(${variable} "${library} is not built for Open MPI, which this MPI is" PARENT_SCOPE)
  endif()
endfunction()

function(fourscore_check_fftw_mpi)
  set(FOURSCORE_MPI_FFTW OFF PARENT_SCOPE)
  if(NOT MPI_C_FOUND)
    set(FOURSCORE_MPI_FFTW_REASON "FOURSCORE_MPI is none" PARENT_SCOPE)
    return()
  endif()
  if(NOT FFTW3_double_mpi_FOUND OR NOT FFTW3_single_mpi_FOUND)
    set(FOURSCORE_MPI_FFTW_REASON "libfftw3_mpi or libfftw3f_mpi not found" PARENT_SCOPE)
    return()
  endif()
  fourscore_other_mpi("${FFTW3_double_mpi_LIBRARY}" other)
  if(other)
    set(FOURSCORE_MPI_FFTW_REASON "${other}" PARENT_SCOPE)
    return()
  endif()
  file(WRITE "${CMAKE_BINARY_DIR}/CMakeFiles/fftw_mpi.c"
    "#include <fftw3-mpi.h>\nint main(int c, char** v) { MPI_Init(&c, &v); fftw_mpi_init(); fftwf_mpi_init(); return MPI_Finalize(); }\n")
  try_compile(links "${CMAKE_BINARY_DIR}/CMakeFiles/fftw_mpi" "${CMAKE_BINARY_DIR}/CMakeFiles/fftw_mpi.c"
    LINK_LIBRARIES FFTW3::double_mpi FFTW3::single_mpi MPI::MPI_C m OUTPUT_VARIABLE output)
  if(NOT links)
    set(FOURSCORE_MPI_FFTW_REASON "a program with ${FFTW3_double_mpi_LIBRARY} does not link with this MPI" PARENT_SCOPE)
    return()
  endif()
  set(FOURSCORE_MPI_FFTW ON PARENT_SCOPE)
  set(FOURSCORE_MPI_FFTW_REASON "" PARENT_SCOPE)
endfunction()
fourscore_check_fftw_mpi()
