// Lets headers of lane mappings and decoders serve the device and, in tests, the host's own compiler.
#pragma once

#ifdef __CUDACC__
#define SPTILE_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define SPTILE_HOST_DEVICE inline
#endif
