// Stands in for the header of CUDA, so that kernels run on hosts without it: what their launches name, and
// what uploads call, which their test defines.
#pragma once

#include <cstddef>

#include "vector_types.h"

enum cudaError_t : int { cudaSuccess = 0, cudaErrorInvalidValue = 1 };
using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CUevent_st*;
inline constexpr int cudaSharedmemCarveoutMaxShared = 100;

enum cudaMemcpyKind { cudaMemcpyHostToDevice };
inline constexpr unsigned cudaHostAllocPortable = 1, cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2;
cudaError_t cudaGetDevice(int* ordinal);
const char* cudaGetErrorString(cudaError_t code);
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned flags);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemsetAsync(void* to, int byte, std::size_t bytes, cudaStream_t stream);
