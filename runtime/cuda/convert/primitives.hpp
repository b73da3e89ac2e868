// Sorts and prefix sums of CUB (CUDA toolkit), compiled once.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "runtime/cuda/convert/entry_key.hpp"
#include "runtime/cuda/convert/row_map.hpp"

namespace sptile::runtime::cuda {

// With a null `scratch`, the functions only set `bytes`. Otherwise they enqueue their work.

/// Sorts at most 2^32 - 1 pairs by some bits of their keys (stable).
cudaError_t sort_pairs(void* scratch, std::size_t& bytes, SortBuffers& buffers, std::int64_t n, int begin_bit,
                       int end_bit, cudaStream_t stream);

/// Exclusive prefix sum, in place.
cudaError_t exclusive_sum(void* scratch, std::size_t& bytes, std::uint32_t* x, std::int64_t n,
                          cudaStream_t stream);
cudaError_t exclusive_sum(void* scratch, std::size_t& bytes, std::int64_t* x, std::int64_t n,
                          cudaStream_t stream);

/// Inclusive prefix composition of maps, in place.
cudaError_t compose_maps(void* scratch, std::size_t& bytes, RowMap* maps, std::int64_t n,
                         cudaStream_t stream);

}  // namespace sptile::runtime::cuda
