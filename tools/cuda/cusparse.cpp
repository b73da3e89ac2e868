#include "tools/cuda/cusparse.hpp"

#include <cusparse.h>
#include <dlfcn.h>

#include <algorithm>
#include <memory>
#include <string>

#include "runtime/cuda/device_buffer.hpp"

namespace sptile::tools::cuda {
namespace {

constexpr std::string_view kNames[] = {"cusparse.default", "cusparse.alg2", "cusparse.alg3"};
constexpr cusparseSpMMAlg_t kAlgorithms[] = {CUSPARSE_SPMM_ALG_DEFAULT, CUSPARSE_SPMM_CSR_ALG2,
                                             CUSPARSE_SPMM_CSR_ALG3};

/// The functions that are needed.
struct Library {
  bool complete = false;
  decltype(&cusparseCreate) create = nullptr;
  decltype(&cusparseCreateCsr) create_csr = nullptr;
  decltype(&cusparseCreateDnMat) create_dense = nullptr;
  decltype(&cusparseSpMM_bufferSize) buffer_size = nullptr;
  decltype(&cusparseSpMM_preprocess) preprocess = nullptr;
  decltype(&cusparseSpMM) multiply = nullptr;
  decltype(&cusparseDestroySpMat) destroy_sparse = nullptr;
  decltype(&cusparseDestroyDnMat) destroy_dense = nullptr;
  cusparseHandle_t handle = nullptr;

  Library() {
    void* library = nullptr;
    for (const char* name : {"libcusparse.so.12", "libcusparse.so"})
      if (library == nullptr) library = ::dlopen(name, RTLD_NOW);
    if (library == nullptr) return;
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
      return function != nullptr;
    };
    complete = find(create, "cusparseCreate") && find(create_csr, "cusparseCreateCsr") &&
               find(create_dense, "cusparseCreateDnMat") && find(buffer_size, "cusparseSpMM_bufferSize") &&
               find(preprocess, "cusparseSpMM_preprocess") && find(multiply, "cusparseSpMM") &&
               find(destroy_sparse, "cusparseDestroySpMat") && find(destroy_dense, "cusparseDestroyDnMat");
  }
};

Library& library() {
  static Library one;  // never unloaded: its handle lives as long as the process
  return one;
}

Status check(cusparseStatus_t status, const char* what) {
  if (status == CUSPARSE_STATUS_SUCCESS) return {};
  return fail(status == CUSPARSE_STATUS_NOT_SUPPORTED ? Errc::unsupported : Errc::device,
              std::string("cusparse: ") + what + " failed with status " + std::to_string(status));
}

cudaDataType type_of(DType dtype) {
  return dtype == DType::f64    ? CUDA_R_64F
         : dtype == DType::f16  ? CUDA_R_16F
         : dtype == DType::bf16 ? CUDA_R_16BF
                                : CUDA_R_32F;
}

/// What a product needs to live while it is launched.
class Product {
 public:
  Product(cusparseSpMMAlg_t algorithm, DType dtype)
      : algorithm_(algorithm),
        type_(type_of(dtype)),
        compute_(dtype == DType::f64 ? CUDA_R_64F : CUDA_R_32F) {}
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;
  ~Product() {
    if (c_ != nullptr) library().destroy_dense(c_);
    if (b_ != nullptr) library().destroy_dense(b_);
    if (a_ != nullptr) library().destroy_sparse(a_);
  }

  Status prepare(const DeviceCsr& a, const void* b, void* c, std::int64_t n) {
    const Library& lib = library();
    Status s = check(lib.create_csr(&a_, a.rows, a.cols, a.nnz, const_cast<std::int32_t*>(a.row_ptr),
                                    const_cast<std::int32_t*>(a.columns), const_cast<void*>(a.values),
                                    CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type_),
                     "describing A");
    if (s)
      s = check(lib.create_dense(&b_, a.cols, n, n, const_cast<void*>(b), type_, CUSPARSE_ORDER_ROW),
                "describing B");
    if (s) s = check(lib.create_dense(&c_, a.rows, n, n, c, type_, CUSPARSE_ORDER_ROW), "describing C");
    std::size_t bytes = 0;
    if (s) s = check(call(lib.buffer_size, &bytes), "finding the buffer size");
    if (!s) return s;
    auto buffer = runtime::cuda::DeviceBuffer::allocate(bytes + 1, "the buffer of cuSPARSE");
    if (!buffer) return tl::unexpected(buffer.error());
    buffer_ = std::move(*buffer);
    return check(call(lib.preprocess, static_cast<void*>(buffer_.data())), "preprocessing");
  }

  Status launch() const {
    return check(call(library().multiply, static_cast<void*>(buffer_.data())), "multiplying");
  }

 private:
  template <class F, class Last>
  cusparseStatus_t call(F function, Last last) const {
    static constexpr double kOne64 = 1, kZero64 = 0;
    static constexpr float kOne32 = 1, kZero32 = 0;
    const bool wide = compute_ == CUDA_R_64F;
    const void* const one = wide ? static_cast<const void*>(&kOne64) : &kOne32;
    const void* const zero = wide ? static_cast<const void*>(&kZero64) : &kZero32;
    return function(library().handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, one,
                    a_, b_, zero, c_, compute_, algorithm_, last);
  }

  cusparseSpMatDescr_t a_ = nullptr;
  cusparseDnMatDescr_t b_ = nullptr, c_ = nullptr;
  cusparseSpMMAlg_t algorithm_;
  cudaDataType type_, compute_;
  runtime::cuda::DeviceBuffer buffer_;
};

}  // namespace

std::span<const std::string_view> cusparse_kernels() { return kNames; }

bool cusparse_found() { return library().complete; }

Result<std::function<Status()>> prepare_cusparse(std::string_view kernel, const DeviceCsr& a, const void* b,
                                                 void* c, std::int64_t n) {
  if (!cusparse_found()) return fail(Errc::unsupported, "cuSPARSE cannot be loaded");
  if (library().handle == nullptr)
    if (Status s = check(library().create(&library().handle), "starting"); !s)
      return tl::unexpected(s.error());
  const auto place = std::find(std::begin(kNames), std::end(kNames), kernel) - std::begin(kNames);
  const auto product = std::make_shared<Product>(kAlgorithms[place], a.dtype);
  if (Status s = product->prepare(a, b, c, n); !s) return tl::unexpected(s.error());
  return [product] { return product->launch(); };
}

}  // namespace sptile::tools::cuda
