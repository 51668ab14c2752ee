#pragma once
// What drivers/devices calls of cuFFT (cuda_runtime_api.h beside it). Names and values are those of cuFFT 12.

#include <cuda_runtime_api.h>

#include <complex>

#define CUFFT_VER_MAJOR 12
#define CUFFT_FORWARD -1
#define CUFFT_INVERSE 1

enum cufftResult {
  CUFFT_SUCCESS = 0,
  CUFFT_INVALID_PLAN = 1,
  CUFFT_ALLOC_FAILED = 2,
  CUFFT_INVALID_TYPE = 3,
  CUFFT_INVALID_VALUE = 4,
  CUFFT_INTERNAL_ERROR = 5,
  CUFFT_EXEC_FAILED = 6,
  CUFFT_SETUP_FAILED = 7,
  CUFFT_INVALID_SIZE = 8,
};
enum cufftType {
  CUFFT_R2C = 0x2a,
  CUFFT_C2R = 0x2c,
  CUFFT_C2C = 0x29,
  CUFFT_D2Z = 0x6a,
  CUFFT_Z2D = 0x6c,
  CUFFT_Z2Z = 0x69,
};
using cufftHandle = int;
using cufftReal = float;
using cufftDoubleReal = double;
using cufftComplex = std::complex<float>;
using cufftDoubleComplex = std::complex<double>;

extern "C" {
cufftResult cufftGetVersion(int* version);
cufftResult cufftCreate(cufftHandle* plan);
cufftResult cufftDestroy(cufftHandle plan);
cufftResult cufftSetAutoAllocation(cufftHandle plan, int automatic);
cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long* n, long long* in_embed, long long in_stride,
                                long long in_distance, long long* out_embed, long long out_stride,
                                long long out_distance, cufftType type, long long batch, std::size_t* workspace);
cufftResult cufftSetWorkArea(cufftHandle plan, void* area);
cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream);
cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* in, cufftComplex* out, int direction);
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleComplex* out, int direction);
cufftResult cufftExecR2C(cufftHandle plan, cufftReal* in, cufftComplex* out);
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* in, cufftReal* out);
cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* in, cufftDoubleComplex* out);
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleReal* out);
}
