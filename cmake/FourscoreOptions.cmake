include(GNUInstallDirs)

set(FOURSCORE_MPI "default" CACHE STRING "Which MPI: default (what find_package finds), openmpi, mpich, smpi (SimGrid's, simulated), or none (no drivers)")
set_property(CACHE FOURSCORE_MPI PROPERTY STRINGS default openmpi mpich smpi none)
option(FOURSCORE_TESTS "Build the tests" ON)
# What is optional is used where it is found, unless it is left out here.
option(FOURSCORE_WITH_BENCHMARK "The programs of drivers/components where Google Benchmark is found" ON)
option(FOURSCORE_WITH_CUDA "Device cuda and local FFT library cufft where nvcc and cuFFT are found" ON)
option(FOURSCORE_WITH_FFTW_MPI "Variant fftw-mpi where FFTW's MPI transforms are found" ON)
option(FOURSCORE_WITH_FFTW_THREADS "Local FFTs of FFTW with more than one thread where its threads are found" ON)
option(FOURSCORE_WITH_HIGHWAY "Local FFT library tiled where Highway is found" ON)
option(FOURSCORE_WITH_LIBARCHIVE "fourscore archive pack and unpack where libarchive is found" ON)
option(FOURSCORE_WITH_LIKWID "Counter backend likwid where liblikwid is found; it is under the GPL, version 3" ON)
option(FOURSCORE_WITH_MKL "Local FFT library mkl and variant mkl-cdft where Intel oneMKL is found; it is proprietary" ON)
option(FOURSCORE_WITH_OPENCL "Device opencl and local FFT library clfft where OpenCL and clFFT are found" ON)
option(FOURSCORE_WITH_OPENMP "Variant node where the compiler has OpenMP" ON)
option(FOURSCORE_WITH_PAPI "Counter backend papi where libpapi is found" ON)
option(FOURSCORE_WITH_VALGRIND "Counter backend callgrind where Valgrind's headers are found" ON)
option(FOURSCORE_WITH_ZFP "Messages compressed by libzfp (wire zfp) where it is found" ON)
option(FOURSCORE_WERROR "Warnings are errors" OFF)
option(FOURSCORE_NATIVE "Compile for this machine's processor (-march=native)" ON)
set(FOURSCORE_AVX512 AUTO CACHE STRING
  "AVX-512 instructions: AUTO (as the flags of the compiler have it), OFF (left out), ON (all is built as where they are, which tests what that changes)")
set_property(CACHE FOURSCORE_AVX512 PROPERTY STRINGS AUTO OFF ON)
option(FOURSCORE_FOR_SIMULATOR "This is the second build, for Valgrind, that FourscoreSimulator.cmake makes; records say so" OFF)
mark_as_advanced(FOURSCORE_FOR_SIMULATOR)
set(FOURSCORE_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize= (address,undefined)")
set(FOURSCORE_PYTHON "" CACHE FILEPATH
  "The Python of reports, models and their tests; empty: .venv/bin/python of the source tree when it is there, else python3")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Repeated builds are quick where ccache is installed. What it must overlook for precompiled headers: ccache(1),
# section "Precompiled headers".
find_program(FOURSCORE_CCACHE ccache)
mark_as_advanced(FOURSCORE_CCACHE)
if(FOURSCORE_CCACHE)
  foreach(language C CXX)
    if(NOT CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${FOURSCORE_CCACHE}")
    endif()
  endforeach()
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")

# Installed programs find the libraries of a module system where the build found them.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

# Where programs find their data, below the prefix that they are in (core/installed.hpp).
set(FOURSCORE_INSTALL_DATADIR "share/fourscore")
