#include "tools/bench/eigen_spmm.hpp"

#include <Eigen/SparseCore>

namespace sptile::bench {

void eigen_spmm(int rows, int cols, const std::int32_t* row_ptr, const std::int32_t* col_idx,
                const float* values, int n, const float* b, float* c, int threads) {
  using Sparse = Eigen::SparseMatrix<float, Eigen::RowMajor>;
  using Dense = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::setNbThreads(threads);
  const Eigen::Map<const Sparse> sparse(rows, cols, row_ptr[rows], row_ptr, col_idx, values);
  const Eigen::Map<const Dense> right(b, cols, n);
  Eigen::Map<Dense> result(c, rows, n);
  result.noalias() = sparse * right;
}

}  // namespace sptile::bench
