#include "tools/bench/cuda/cusparse.hpp"

#include <cusparse.h>
#include <dlfcn.h>

#include "tools/bench/cuda/timing.hpp"

namespace sptile::bench {
namespace {

/// The functions that are needed; null members when the library is not there.
struct Library {
  void* handle = nullptr;
  decltype(&cusparseCreate) create = nullptr;
  decltype(&cusparseCreateCsr) create_csr = nullptr;
  decltype(&cusparseCreateDnMat) create_dense = nullptr;
  decltype(&cusparseSpMM_bufferSize) buffer_size = nullptr;
  decltype(&cusparseSpMM_preprocess) preprocess = nullptr;
  decltype(&cusparseSpMM) multiply = nullptr;
  decltype(&cusparseDestroySpMat) destroy_sparse = nullptr;
  decltype(&cusparseDestroyDnMat) destroy_dense = nullptr;

  Library() {
    handle = ::dlopen("libcusparse.so.12", RTLD_NOW);
    if (handle == nullptr) return;
    find(create, "cusparseCreate");
    find(create_csr, "cusparseCreateCsr");
    find(create_dense, "cusparseCreateDnMat");
    find(buffer_size, "cusparseSpMM_bufferSize");
    find(preprocess, "cusparseSpMM_preprocess");
    find(multiply, "cusparseSpMM");
    find(destroy_sparse, "cusparseDestroySpMat");
    find(destroy_dense, "cusparseDestroyDnMat");
  }

 private:
  template <class F>
  void find(F& function, const char* name) {
    function = reinterpret_cast<F>(::dlsym(handle, name));
    if (function == nullptr)
      std::fprintf(stderr, "cuda_spmm_bench: cuSPARSE has no %s\n", name), std::exit(4);
  }
};

const Library& library() {
  static const Library one;
  return one;
}

void require_ok(cusparseStatus_t status, const char* what) {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  std::fprintf(stderr, "cuda_spmm_bench: cuSPARSE: %s failed with status %d\n", what,
               static_cast<int>(status));
  std::exit(6);
}

cusparseHandle_t handle() {
  static const cusparseHandle_t one = [] {
    cusparseHandle_t made = nullptr;
    require_ok(library().create(&made), "create");
    return made;
  }();
  return one;
}

cudaDataType type_of(DType dtype) {
  return dtype == DType::f64    ? CUDA_R_64F
         : dtype == DType::f16  ? CUDA_R_16F
         : dtype == DType::bf16 ? CUDA_R_16BF
                                : CUDA_R_32F;
}

/// What a product needs to live while it is launched.
struct Product {
  cusparseSpMatDescr_t a = nullptr;
  cusparseDnMatDescr_t b = nullptr, c = nullptr;
  cusparseSpMMAlg_t algorithm;
  cudaDataType compute;
  std::unique_ptr<DeviceMemory> buffer;
  double one64 = 1, zero64 = 0;
  float one32 = 1, zero32 = 0;

  [[nodiscard]] const void* one() const {
    return compute == CUDA_R_64F ? static_cast<const void*>(&one64) : &one32;
  }
  [[nodiscard]] const void* zero() const {
    return compute == CUDA_R_64F ? static_cast<const void*>(&zero64) : &zero32;
  }

  Product(const DeviceCsr& csr, const void* dense, void* result, std::int64_t n, cusparseSpMMAlg_t algorithm_)
      : algorithm(algorithm_), compute(csr.dtype == DType::f64 ? CUDA_R_64F : CUDA_R_32F) {
    const cudaDataType type = type_of(csr.dtype);
    require_ok(library().create_csr(&a, csr.rows, csr.cols, csr.nnz, const_cast<std::int32_t*>(csr.row_ptr),
                                    const_cast<std::int32_t*>(csr.columns), const_cast<void*>(csr.values),
                                    CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type),
               "create A");
    require_ok(library().create_dense(&b, csr.cols, n, n, const_cast<void*>(dense), type, CUSPARSE_ORDER_ROW),
               "create B");
    require_ok(library().create_dense(&c, csr.rows, n, n, result, type, CUSPARSE_ORDER_ROW), "create C");
    std::size_t bytes = 0;
    require_ok(
        library().buffer_size(handle(), CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE,
                              one(), a, b, zero(), c, compute, algorithm, &bytes),
        "buffer size");
    buffer = std::make_unique<DeviceMemory>(bytes);
    require_ok(
        library().preprocess(handle(), CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE,
                             one(), a, b, zero(), c, compute, algorithm, buffer->get()),
        "preprocess");
  }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;
  ~Product() {
    library().destroy_dense(c);
    library().destroy_dense(b);
    library().destroy_sparse(a);
  }

  void launch() const {
    require_ok(
        library().multiply(handle(), CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE,
                           one(), a, b, zero(), c, compute, algorithm, buffer->get()),
        "multiply");
  }
};

}  // namespace

std::vector<CusparseRun> cusparse_runs(const DeviceCsr& a, const void* b, void* c, std::int64_t n) {
  std::vector<CusparseRun> runs;
  if (library().handle == nullptr) return runs;
  constexpr std::pair<const char*, cusparseSpMMAlg_t> kAlgorithms[] = {
      {"cusparse.default", CUSPARSE_SPMM_ALG_DEFAULT},
      {"cusparse.alg2", CUSPARSE_SPMM_CSR_ALG2},
      {"cusparse.alg3", CUSPARSE_SPMM_CSR_ALG3}};
  for (const auto& [name, algorithm] : kAlgorithms) {
    const auto product = std::make_shared<Product>(a, b, c, n, algorithm);
    runs.push_back({name, [product] { product->launch(); }});
  }
  return runs;
}

}  // namespace sptile::bench
