# FFTW 3 and its companions as imported targets FFTW3::<component>, for the components
#   double single             libfftw3, libfftw3f
#   double_threads single_threads   libfftw3_threads, libfftw3f_threads
#   double_mpi single_mpi     libfftw3_mpi, libfftw3f_mpi
# FFTW3_ROOT or CMAKE_PREFIX_PATH choose the place. Sets FFTW3_FOUND, FFTW3_<component>_FOUND, FFTW3_INCLUDE_DIR.

find_path(FFTW3_INCLUDE_DIR fftw3.h)
find_path(FFTW3_MPI_INCLUDE_DIR fftw3-mpi.h HINTS ${FFTW3_INCLUDE_DIR})
mark_as_advanced(FFTW3_INCLUDE_DIR FFTW3_MPI_INCLUDE_DIR)

foreach(component IN LISTS FFTW3_FIND_COMPONENTS)
  string(REGEX REPLACE "^double" "fftw3" library "${component}")
  string(REGEX REPLACE "^single" "fftw3f" library "${library}")
  find_library(FFTW3_${component}_LIBRARY NAMES ${library})
  mark_as_advanced(FFTW3_${component}_LIBRARY)
  set(include_dir "${FFTW3_INCLUDE_DIR}")
  if(component MATCHES "_mpi$")
    set(include_dir "${FFTW3_MPI_INCLUDE_DIR}")
  endif()
  if(FFTW3_${component}_LIBRARY AND include_dir)
    set(FFTW3_${component}_FOUND TRUE)
    if(NOT TARGET FFTW3::${component})
      add_library(FFTW3::${component} UNKNOWN IMPORTED)
      set_target_properties(FFTW3::${component} PROPERTIES IMPORTED_LOCATION "${FFTW3_${component}_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${include_dir}")
      string(REGEX REPLACE "_(threads|mpi)$" "" base "${component}")
      if(NOT base STREQUAL component)
        set_property(TARGET FFTW3::${component} PROPERTY INTERFACE_LINK_LIBRARIES FFTW3::${base})
      endif()
    endif()
  else()
    set(FFTW3_${component}_FOUND FALSE)
  endif()
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(FFTW3 REQUIRED_VARS FFTW3_INCLUDE_DIR HANDLE_COMPONENTS)
