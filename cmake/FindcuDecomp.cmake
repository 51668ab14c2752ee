# cuDecomp, which brings no package of its own, as the imported target cuDecomp::cudecomp. cuDecomp_ROOT or
# CMAKE_PREFIX_PATH choose the place. Sets cuDecomp_FOUND, cuDecomp_LIBRARY, cuDecomp_INCLUDE_DIR, cuDecomp_VERSION.

find_path(cuDecomp_INCLUDE_DIR cudecomp_version.h)
find_library(cuDecomp_LIBRARY cudecomp)
mark_as_advanced(cuDecomp_INCLUDE_DIR cuDecomp_LIBRARY)
find_package(CUDAToolkit QUIET)
set(cuDecomp_VERSION "")
if(cuDecomp_INCLUDE_DIR)
  file(STRINGS "${cuDecomp_INCLUDE_DIR}/cudecomp_version.h" numbers REGEX "^#define CUDECOMP_(MAJOR|MINOR|PATCH) [0-9]+$")
  list(TRANSFORM numbers REPLACE ".* " "")
  list(JOIN numbers "." cuDecomp_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(cuDecomp REQUIRED_VARS cuDecomp_LIBRARY cuDecomp_INCLUDE_DIR CUDAToolkit_FOUND
  VERSION_VAR cuDecomp_VERSION)
if(cuDecomp_FOUND AND NOT TARGET cuDecomp::cudecomp)
  add_library(cuDecomp::cudecomp UNKNOWN IMPORTED)
  set_target_properties(cuDecomp::cudecomp PROPERTIES IMPORTED_LOCATION "${cuDecomp_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${cuDecomp_INCLUDE_DIR};${CUDAToolkit_INCLUDE_DIRS}" INTERFACE_LINK_LIBRARIES "MPI::MPI_C")
endif()
