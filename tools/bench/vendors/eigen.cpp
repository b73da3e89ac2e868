// Eigen's product of a row-major sparse and a row-major dense matrix for cpu_vendors.py, which compiles this
// file for the current machine if Eigen is installed.
#include <Eigen/SparseCore>
#include <cstdint>

namespace {

struct EigenProduct {
  const std::int32_t* row_ptr;
  const std::int32_t* col_idx;
  const void* values;
  const void* b;
  void* c;
  std::int32_t rows, cols, n;
};

template <class Real>
int run_eigen(const void* product) {
  using Sparse = Eigen::SparseMatrix<Real, Eigen::RowMajor>;
  using Dense = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
  const auto& p = *static_cast<const EigenProduct*>(product);
  const Eigen::Map<const Sparse> sparse(p.rows, p.cols, p.row_ptr[p.rows], p.row_ptr, p.col_idx,
                                        static_cast<const Real*>(p.values));
  const auto* b = static_cast<const Real*>(p.b);
  auto* c = static_cast<Real*>(p.c);
  if (p.n == 1)
    Eigen::Map<Vector>(c, p.rows).noalias() = sparse * Eigen::Map<const Vector>(b, p.cols);
  else
    Eigen::Map<Dense>(c, p.rows, p.n).noalias() = sparse * Eigen::Map<const Dense>(b, p.cols, p.n);
  return 0;
}

}  // namespace

extern "C" {

int run_eigen_f32(const void* product) { return run_eigen<float>(product); }

int run_eigen_f64(const void* product) { return run_eigen<double>(product); }

void eigen_threads(int threads) { Eigen::setNbThreads(threads); }

/// Returns the major, minor or patch version.
int eigen_version(int part) {
  constexpr int kVersion[] = {EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION};
  return kVersion[part];
}

}  // extern "C"
