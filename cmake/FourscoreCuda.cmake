# CUDA, where nvcc, the runtime and cuFFT are: FOURSCORE_CUDA. Which GPUs it is compiled for: -DCMAKE_CUDA_ARCHITECTURES=90,
# without it one of each generation that this nvcc knows. cuFFT is opened when a program uses it, so that programs start
# without.
set(FOURSCORE_CUDA FALSE)
set(cuda_missing "FOURSCORE_WITH_CUDA is OFF")
if(FOURSCORE_WITH_CUDA)
  find_package(CUDAToolkit QUIET)
  include(CheckLanguage)
  check_language(CUDA)
  if(NOT CUDAToolkit_FOUND)
    set(cuda_missing "no CUDA toolkit found")
  elseif(NOT CMAKE_CUDA_COMPILER)
    set(cuda_missing "nvcc ${CUDAToolkit_NVCC_EXECUTABLE} does not work")
  elseif(NOT TARGET CUDA::cufft OR NOT TARGET CUDA::cudart_static)
    set(cuda_missing "CUDA ${CUDAToolkit_VERSION} is here without cuFFT, or without its static runtime")
  else()
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
      set(CMAKE_CUDA_ARCHITECTURES all-major CACHE STRING "GPUs that CUDA code is compiled for")
    endif()
    enable_language(CUDA)
    set(FOURSCORE_CUDA TRUE)
    get_target_property(cufft_file CUDA::cufft IMPORTED_LOCATION)
    cmake_path(GET cufft_file PARENT_PATH FOURSCORE_CUFFT_DIR)
  endif()
endif()
fourscore_part("CUDA" "${FOURSCORE_CUDA}" drivers/devices/cuda.cpp
  "device cuda and local FFT library cufft ${CUDAToolkit_VERSION}, for ${CMAKE_CUDA_ARCHITECTURES}; copy_bench"
  "${cuda_missing}: variants on devices and copy_bench use the host's stand-in")
