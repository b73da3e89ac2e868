// Stands in for the header of CUDA, so that kernels run on hosts without it: what their launches name.
#pragma once

#include "vector_types.h"

enum cudaError_t : int { cudaSuccess = 0, cudaErrorInvalidValue = 1 };
using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CUevent_st*;
inline constexpr int cudaSharedmemCarveoutMaxShared = 100;
