# AccFFT, which brings no package of its own, as the imported target AccFFT::accfft. AccFFT_ROOT or CMAKE_PREFIX_PATH
# choose the place. Sets AccFFT_FOUND, AccFFT_LIBRARY, AccFFT_INCLUDE_DIR.

find_path(AccFFT_INCLUDE_DIR accfftf.h)
find_library(AccFFT_LIBRARY accfft)
mark_as_advanced(AccFFT_INCLUDE_DIR AccFFT_LIBRARY)
find_package(FFTW3 QUIET COMPONENTS double single double_threads)
find_package(OpenMP QUIET COMPONENTS CXX)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(AccFFT REQUIRED_VARS AccFFT_LIBRARY AccFFT_INCLUDE_DIR OpenMP_CXX_FOUND FFTW3_FOUND)
if(AccFFT_FOUND AND NOT TARGET AccFFT::accfft)
  add_library(AccFFT::accfft UNKNOWN IMPORTED)
  set_target_properties(AccFFT::accfft PROPERTIES IMPORTED_LOCATION "${AccFFT_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${AccFFT_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "FFTW3::double_threads;FFTW3::double;FFTW3::single;OpenMP::OpenMP_CXX;MPI::MPI_C")
endif()
