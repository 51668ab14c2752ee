# SimGrid's MPI, under which ranks are simulated (docs/simulation.md). Its compiler wrappers are not used: they would
# build a copy of the program's globals for each rank, and define macros for exit, malloc and others in every file. Here
# all ranks share one program, whose globals are written before the first rank starts.
# Sets MPI_C_FOUND, MPI::MPI_C, MPI_C_VERSION, FOURSCORE_MPI_VENDOR.
find_path(FOURSCORE_SMPI_INCLUDE_DIR smpi/mpi.h)
find_library(FOURSCORE_SIMGRID_LIBRARY simgrid)
mark_as_advanced(FOURSCORE_SMPI_INCLUDE_DIR FOURSCORE_SIMGRID_LIBRARY)
if(NOT FOURSCORE_SMPI_INCLUDE_DIR OR NOT FOURSCORE_SIMGRID_LIBRARY)
  message(FATAL_ERROR "FOURSCORE_MPI is smpi, but no smpi/mpi.h with libsimgrid was found; install libsimgrid-dev "
    "(jobscripts/setup --with simgrid), or set CMAKE_PREFIX_PATH")
endif()
file(STRINGS "${FOURSCORE_SMPI_INCLUDE_DIR}/simgrid/version.h" simgrid_version REGEX "define SIMGRID_VERSION_(MAJOR|MINOR) ")
string(REGEX REPLACE ".*MAJOR +([0-9]+).*MINOR +([0-9]+).*" "\\1.\\2" FOURSCORE_SIMGRID_VERSION "${simgrid_version}")
if(FOURSCORE_SIMGRID_VERSION VERSION_LESS 3.30)
  message(FATAL_ERROR "SimGrid ${FOURSCORE_SIMGRID_VERSION} is too old; expected 3.30 or later")
endif()
set(MPI_C_FOUND TRUE)
set(MPI_C_VERSION "3.0 of SimGrid ${FOURSCORE_SIMGRID_VERSION}")
set(MPI_C_LIBRARIES "${FOURSCORE_SIMGRID_LIBRARY}")
set(FOURSCORE_MPI_VENDOR "smpi")
set(MPIEXEC_EXECUTABLE "no mpiexec: the program starts its ranks itself")
add_library(MPI::MPI_C INTERFACE IMPORTED)
target_include_directories(MPI::MPI_C INTERFACE "${FOURSCORE_SMPI_INCLUDE_DIR}" "${FOURSCORE_SMPI_INCLUDE_DIR}/smpi")
target_link_libraries(MPI::MPI_C INTERFACE "${FOURSCORE_SIMGRID_LIBRARY}")
