// Function qualifiers for code compiled for the device and, in tests, by the host compiler.
#pragma once

#ifdef __CUDACC__
#define SPTILE_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define SPTILE_HOST_DEVICE inline
#endif
