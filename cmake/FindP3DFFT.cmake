# P3DFFT++ (P3DFFT 3), which brings no package of its own, as the imported target P3DFFT::p3dfft. P3DFFT_ROOT or
# CMAKE_PREFIX_PATH choose the place. Sets P3DFFT_FOUND, P3DFFT_LIBRARY, P3DFFT_INCLUDE_DIR, P3DFFT_VERSION, and P3DFFT_FFTW:
# whether it was built with FFTW.

find_path(P3DFFT_INCLUDE_DIR p3dfft3config.h)
find_library(P3DFFT_LIBRARY NAMES p3dfft.3)
mark_as_advanced(P3DFFT_INCLUDE_DIR P3DFFT_LIBRARY)
find_package(FFTW3 QUIET COMPONENTS double single)

set(P3DFFT_FFTW FALSE)
if(P3DFFT_INCLUDE_DIR)
  file(STRINGS "${P3DFFT_INCLUDE_DIR}/p3dfft3config.h" P3DFFT_VERSION REGEX "^#define PACKAGE_VERSION ")
  string(REGEX REPLACE ".*\"(.*)\".*" "\\1" P3DFFT_VERSION "${P3DFFT_VERSION}")
  file(STRINGS "${P3DFFT_INCLUDE_DIR}/p3dfft3config.h" P3DFFT_FFTW_LINE REGEX "^#define FFTW 1")
  if(P3DFFT_FFTW_LINE)
    set(P3DFFT_FFTW TRUE)
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(P3DFFT REQUIRED_VARS P3DFFT_LIBRARY P3DFFT_INCLUDE_DIR FFTW3_FOUND VERSION_VAR P3DFFT_VERSION)
if(P3DFFT_FOUND AND NOT TARGET P3DFFT::p3dfft)
  add_library(P3DFFT::p3dfft UNKNOWN IMPORTED)
  set_target_properties(P3DFFT::p3dfft PROPERTIES IMPORTED_LOCATION "${P3DFFT_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${P3DFFT_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "FFTW3::double;FFTW3::single;MPI::MPI_CXX")
endif()
