// Eigen's row-major sparse times row-major dense, as the yardstick of spmm_bench. In a file of its own: it is
// compiled for the machine at hand, and Eigen's templates should see nothing else of sptile.
#pragma once

#include <cstdint>

namespace sptile::bench {

/// C = A * B in f32 with Eigen and its own OpenMP loop. row_ptr holds 32-bit offsets, as Eigen's default
/// wants; B is cols x n and C is rows x n, without padding.
void eigen_spmm(int rows, int cols, const std::int32_t* row_ptr, const std::int32_t* col_idx,
                const float* values, int n, const float* b, float* c, int threads);

}  // namespace sptile::bench
