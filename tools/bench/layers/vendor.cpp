#include "tools/bench/layers/vendor.hpp"

#include <cublas_v2.h>
#include <cusparse.h>
#include <dlfcn.h>

#include <memory>
#include <string>
#include <type_traits>

#include "tools/bench/bench_device.hpp"

namespace sptile::tools::layers {
namespace {

/// One of both libraries.
class Library {
 public:
  explicit Library(std::initializer_list<const char*> names) {
    for (const char* name : names)
      if (library_ == nullptr) library_ = ::dlopen(name, RTLD_NOW);
  }
  template <class F>
  bool find(F& function, const char* name) const {
    if (library_ != nullptr) function = reinterpret_cast<F>(::dlsym(library_, name));
    return function != nullptr;
  }

 private:
  void* library_ = nullptr;  // never closed: handles live as long as the process
};

/// The functions that are needed, and a handle of each library.
struct Vendor {
  decltype(&cublasCreate_v2) create_blas = nullptr;
  decltype(&cublasSetStream_v2) set_blas_stream = nullptr;
  decltype(&cublasSetWorkspace_v2) set_blas_workspace = nullptr;
  decltype(&cublasSetMathMode) set_math_mode = nullptr;
  decltype(&cublasSgemm_v2) sgemm = nullptr;
  decltype(&cublasDgemm_v2) dgemm = nullptr;
  decltype(&cusparseCreate) create_sparse = nullptr;
  decltype(&cusparseSetStream) set_sparse_stream = nullptr;
  decltype(&cusparseCreateCsr) create_csr = nullptr;
  decltype(&cusparseCreateDnMat) create_dense = nullptr;
  decltype(&cusparseSpMM_bufferSize) spmm_buffer = nullptr;
  decltype(&cusparseSpMM_preprocess) spmm_preprocess = nullptr;
  decltype(&cusparseSpMM) spmm = nullptr;
  decltype(&cusparseSDDMM_bufferSize) sddmm_buffer = nullptr;
  decltype(&cusparseSDDMM_preprocess) sddmm_preprocess = nullptr;
  decltype(&cusparseSDDMM) sddmm = nullptr;
  decltype(&cusparseDestroySpMat) destroy_csr = nullptr;
  decltype(&cusparseDestroyDnMat) destroy_dense = nullptr;
  cublasHandle_t blas = nullptr;
  cusparseHandle_t sparse = nullptr;
  std::unique_ptr<DeviceBytes> blas_workspace;  // graphs capture no allocation of cuBLAS

  bool load() {
    const Library dense{"libcublas.so.13", "libcublas.so.12", "libcublas.so"};
    const Library csr{"libcusparse.so.12", "libcusparse.so"};
    return dense.find(create_blas, "cublasCreate_v2") && dense.find(set_blas_stream, "cublasSetStream_v2") &&
           dense.find(set_blas_workspace, "cublasSetWorkspace_v2") &&
           dense.find(set_math_mode, "cublasSetMathMode") && dense.find(sgemm, "cublasSgemm_v2") &&
           dense.find(dgemm, "cublasDgemm_v2") && csr.find(create_sparse, "cusparseCreate") &&
           csr.find(set_sparse_stream, "cusparseSetStream") && csr.find(create_csr, "cusparseCreateCsr") &&
           csr.find(create_dense, "cusparseCreateDnMat") &&
           csr.find(spmm_buffer, "cusparseSpMM_bufferSize") &&
           csr.find(spmm_preprocess, "cusparseSpMM_preprocess") && csr.find(spmm, "cusparseSpMM") &&
           csr.find(sddmm_buffer, "cusparseSDDMM_bufferSize") &&
           csr.find(sddmm_preprocess, "cusparseSDDMM_preprocess") && csr.find(sddmm, "cusparseSDDMM") &&
           csr.find(destroy_csr, "cusparseDestroySpMat") && csr.find(destroy_dense, "cusparseDestroyDnMat");
  }
};

Vendor& vendor() {
  static Vendor one;
  return one;
}

void expect_blas(cublasStatus_t status) {
  expect(status == CUBLAS_STATUS_SUCCESS, "cuBLAS failed with status " + std::to_string(status));
}
void expect_sparse(cusparseStatus_t status) {
  expect(status == CUSPARSE_STATUS_SUCCESS, "cuSPARSE failed with status " + std::to_string(status));
}

/// Memory that any stream may use: clearing it has ended.
std::unique_ptr<DeviceBytes> device_memory(std::size_t bytes) {
  auto memory = std::make_unique<DeviceBytes>(bytes);
  expect(cudaDeviceSynchronize());
  return memory;
}

template <class T>
constexpr cudaDataType kType = std::is_same_v<T, double> ? CUDA_R_64F : CUDA_R_32F;
template <class T>
constexpr T kOne = 1;
template <class T>
constexpr T kZero = 0;

/// What a product with a sparse matrix needs to live while it is launched.
template <class T>
struct Product {
  cusparseSpMatDescr_t sparse = nullptr;
  cusparseDnMatDescr_t first = nullptr, second = nullptr;
  std::unique_ptr<DeviceBytes> buffer;

  Product(const Sparse<T>& a, std::int64_t first_rows, Rows<T> b, std::int64_t second_rows, Rows<T> c,
          std::int64_t n) {
    expect_sparse(vendor().create_csr(&sparse, a.rows, a.columns, a.count,
                                      const_cast<std::int32_t*>(a.row_ptr),
                                      const_cast<std::int32_t*>(a.column_ids), a.values, CUSPARSE_INDEX_32I,
                                      CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, kType<T>));
    expect_sparse(vendor().create_dense(&first, first_rows, n, b.ld, b.data, kType<T>, CUSPARSE_ORDER_ROW));
    expect_sparse(vendor().create_dense(&second, second_rows, n, c.ld, c.data, kType<T>, CUSPARSE_ORDER_ROW));
  }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;
  ~Product() {
    vendor().destroy_csr(sparse);
    vendor().destroy_dense(first);
    vendor().destroy_dense(second);
  }

  template <class F, class Last>
  void multiply(F function, cusparseSpMMAlg_t algorithm, Last last) const {
    expect_sparse(function(vendor().sparse, CUSPARSE_OPERATION_NON_TRANSPOSE,
                           CUSPARSE_OPERATION_NON_TRANSPOSE, &kOne<T>, sparse, first, &kZero<T>, second,
                           kType<T>, algorithm, last));
  }
  template <class F, class Last>
  void sample(F function, Last last) const {
    expect_sparse(function(vendor().sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE,
                           &kOne<T>, first, second, &kZero<T>, sparse, kType<T>, CUSPARSE_SDDMM_ALG_DEFAULT,
                           last));
  }
};

template <class T>
Launch spmm_by(cusparseSpMMAlg_t algorithm, const Sparse<T>& a, Rows<T> b, Rows<T> c, std::int64_t n) {
  const auto product = std::make_shared<Product<T>>(a, a.columns, b, a.rows, c, n);
  std::size_t bytes = 0;
  product->multiply(vendor().spmm_buffer, algorithm, &bytes);
  product->buffer = device_memory(bytes + 1);
  product->multiply(vendor().spmm_preprocess, algorithm, product->buffer->get());
  return [product, algorithm](cudaStream_t stream) {
    expect_sparse(vendor().set_sparse_stream(vendor().sparse, stream));
    product->multiply(vendor().spmm, algorithm, product->buffer->get());
  };
}

}  // namespace

Status load_vendor(bool tf32) {
  Vendor& v = vendor();
  if (!v.load()) return fail(Errc::unsupported, "cuBLAS or cuSPARSE cannot be loaded");
  constexpr std::size_t kWorkspace = 32 << 20;
  expect_blas(v.create_blas(&v.blas));
  v.blas_workspace = device_memory(kWorkspace);
  expect_blas(v.set_math_mode(v.blas, tf32 ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_PEDANTIC_MATH));
  expect_sparse(v.create_sparse(&v.sparse));
  return {};
}

template <class T>
Launch vendor_gemm(Factor<T> a, Factor<T> b, T* out, std::int64_t rows, std::int64_t columns,
                   std::int64_t inner) {
  // What is row-major here is the transpose of a column-major matrix: out^T = b^T a^T.
  const auto form = [](const Factor<T>& f) { return f.transposed ? CUBLAS_OP_T : CUBLAS_OP_N; };
  const auto m = static_cast<int>(columns), n = static_cast<int>(rows), k = static_cast<int>(inner);
  const int ldb = b.transposed ? k : m, lda = a.transposed ? n : k;
  return [=](cudaStream_t stream) {
    Vendor& v = vendor();
    expect_blas(v.set_blas_stream(v.blas, stream));
    expect_blas(v.set_blas_workspace(v.blas, v.blas_workspace->get(), v.blas_workspace->size()));
    if constexpr (std::is_same_v<T, double>)
      expect_blas(
          v.dgemm(v.blas, form(b), form(a), m, n, k, &kOne<T>, b.data, ldb, a.data, lda, &kZero<T>, out, m));
    else
      expect_blas(
          v.sgemm(v.blas, form(b), form(a), m, n, k, &kOne<T>, b.data, ldb, a.data, lda, &kZero<T>, out, m));
  };
}

template <class T>
Launch vendor_spmm(const Sparse<T>& a, Rows<T> b, Rows<T> c, std::int64_t n) {
  Launch best;
  double least = 0;
  for (const auto algorithm : {CUSPARSE_SPMM_CSR_ALG2, CUSPARSE_SPMM_CSR_ALG3, CUSPARSE_SPMM_ALG_DEFAULT}) {
    Launch one = spmm_by(algorithm, a, b, c, n);
    const double us = quick_us(one);
    if (best && us >= least) continue;
    best = std::move(one);
    least = us;
  }
  return best;
}

template <class T>
Launch vendor_sddmm(const Sparse<T>& a, Rows<T> x, Rows<T> y, std::int64_t n) {
  const auto product = std::make_shared<Product<T>>(a, a.rows, x, a.columns, y, n);
  std::size_t bytes = 0;
  product->sample(vendor().sddmm_buffer, &bytes);
  product->buffer = device_memory(bytes + 1);
  product->sample(vendor().sddmm_preprocess, product->buffer->get());
  expect(cudaDeviceSynchronize());
  return [product](cudaStream_t stream) {
    expect_sparse(vendor().set_sparse_stream(vendor().sparse, stream));
    product->sample(vendor().sddmm, product->buffer->get());
  };
}

#define SPTILE_VENDOR(T)                                                                           \
  template Launch vendor_gemm(Factor<T>, Factor<T>, T*, std::int64_t, std::int64_t, std::int64_t); \
  template Launch vendor_spmm(const Sparse<T>&, Rows<T>, Rows<T>, std::int64_t);                   \
  template Launch vendor_sddmm(const Sparse<T>&, Rows<T>, Rows<T>, std::int64_t)
SPTILE_VENDOR(float);
SPTILE_VENDOR(double);

}  // namespace sptile::tools::layers
