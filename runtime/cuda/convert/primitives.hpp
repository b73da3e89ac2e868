// Sorts and sums of the CUDA toolkit (CUB), compiled once.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "runtime/cuda/convert/entry_key.hpp"
#include "runtime/cuda/convert/row_map.hpp"

namespace sptile::runtime::cuda {

// Each asks for scratch when it is null: sets `bytes` and does nothing else. Otherwise it enqueues its work.

/// Sorts at most 2^32 - 1 pairs by some bits of their keys, keeping the order of equals.
cudaError_t sort_pairs(void* scratch, std::size_t& bytes, SortBuffers& buffers, std::int64_t n, int begin_bit,
                       int end_bit, cudaStream_t stream);

/// Replaces each number by the sum of those in front of it.
cudaError_t exclusive_sum(void* scratch, std::size_t& bytes, std::uint32_t* x, std::int64_t n,
                          cudaStream_t stream);
cudaError_t exclusive_sum(void* scratch, std::size_t& bytes, std::int64_t* x, std::int64_t n,
                          cudaStream_t stream);

/// Replaces each map by that of all rows up to its own.
cudaError_t compose_maps(void* scratch, std::size_t& bytes, RowMap* maps, std::int64_t n,
                         cudaStream_t stream);

}  // namespace sptile::runtime::cuda
