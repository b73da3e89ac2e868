#include "tools/cuda/cusparse.hpp"

#include <cusparse.h>
#include <dlfcn.h>

#include <algorithm>
#include <memory>
#include <string>

#include "formats/core/no_value_type.hpp"
#include "runtime/cuda/device/device_buffer.hpp"
#include "runtime/operation/sddmm.hpp"
#include "runtime/operation/spmm.hpp"

namespace sptile::tools::cuda {
namespace {

/// Functions of cuSPARSE, loaded at run time.
struct Library {
  bool complete = false;
  decltype(&cusparseCreate) create = nullptr;
  decltype(&cusparseSetStream) set_stream = nullptr;
  decltype(&cusparseCreateCsr) create_csr = nullptr;
  decltype(&cusparseCreateDnMat) create_dense = nullptr;
  decltype(&cusparseCreateDnVec) create_vector = nullptr;
  decltype(&cusparseSpMM_bufferSize) buffer_size = nullptr;
  decltype(&cusparseSpMM_preprocess) preprocess = nullptr;
  decltype(&cusparseSpMM) multiply = nullptr;
  decltype(&cusparseSpMV_bufferSize) vector_buffer_size = nullptr;
  decltype(&cusparseSpMV_preprocess) vector_preprocess = nullptr;
  decltype(&cusparseSpMV) multiply_vector = nullptr;
  decltype(&cusparseSDDMM_bufferSize) sample_buffer_size = nullptr;
  decltype(&cusparseSDDMM_preprocess) sample_preprocess = nullptr;
  decltype(&cusparseSDDMM) sample = nullptr;
  decltype(&cusparseDestroySpMat) destroy_sparse = nullptr;
  decltype(&cusparseDestroyDnMat) destroy_dense = nullptr;
  decltype(&cusparseDestroyDnVec) destroy_vector = nullptr;
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
    complete = find(create, "cusparseCreate") && find(set_stream, "cusparseSetStream") &&
               find(create_csr, "cusparseCreateCsr") && find(create_dense, "cusparseCreateDnMat") &&
               find(buffer_size, "cusparseSpMM_bufferSize") && find(preprocess, "cusparseSpMM_preprocess") &&
               find(multiply, "cusparseSpMM") && find(sample_buffer_size, "cusparseSDDMM_bufferSize") &&
               find(sample_preprocess, "cusparseSDDMM_preprocess") && find(sample, "cusparseSDDMM") &&
               find(destroy_sparse, "cusparseDestroySpMat") && find(destroy_dense, "cusparseDestroyDnMat") &&
               find(create_vector, "cusparseCreateDnVec") && find(destroy_vector, "cusparseDestroyDnVec") &&
               find(vector_buffer_size, "cusparseSpMV_bufferSize") &&
               find(vector_preprocess, "cusparseSpMV_preprocess") && find(multiply_vector, "cusparseSpMV");
  }
};

Library& library() {
  static Library one;  // never unloaded: its handle exists until the process exits
  return one;
}

Status check(cusparseStatus_t status, const char* what) {
  if (status == CUSPARSE_STATUS_SUCCESS) return {};
  return fail(status == CUSPARSE_STATUS_NOT_SUPPORTED ? Errc::unsupported : Errc::device,
              std::string("cusparse: ") + what + " failed with status " + std::to_string(status));
}

cudaDataType type_of(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return CUDA_R_16F;
    case DType::bf16:
      return CUDA_R_16BF;
    case DType::f32:
      return CUDA_R_32F;
    case DType::f64:
      return CUDA_R_64F;
    default:
      no_value_type(dtype);
  }
}

/// Descriptors of a product: a sparse matrix and two dense ones. Must outlive its launches.
class Product {
 public:
  explicit Product(const DeviceCsr& a)
      : type_(type_of(a.dtype)),
        result_(type_of(a.result)),
        compute_(a.dtype == DType::f64 ? CUDA_R_64F : CUDA_R_32F) {}
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;
  virtual ~Product() {
    for (const cusparseDnMatDescr_t dense : dense_)
      if (dense != nullptr) library().destroy_dense(dense);
    if (sparse_ != nullptr) library().destroy_sparse(sparse_);
  }

  [[nodiscard]] virtual Status launch() const = 0;

 protected:
  /// A dense operand with n columns.
  struct Dense {
    std::int64_t rows;
    const void* data;
    cudaDataType type;
    const char* describing;
  };

  Status describe(const DeviceCsr& a, const void* values, cudaDataType type) {
    return check(library().create_csr(&sparse_, a.rows, a.cols, a.nnz, const_cast<std::int32_t*>(a.row_ptr),
                                      const_cast<std::int32_t*>(a.columns), const_cast<void*>(values),
                                      CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type),
                 "describing A");
  }

  Status describe(const DeviceCsr& a, const void* values, cudaDataType type, const Dense& first,
                  const Dense& second, std::int64_t n) {
    Status s = describe(a, values, type);
    for (int i = 0; i < 2 && s; ++i) {
      const Dense& dense = i == 0 ? first : second;
      s = check(library().create_dense(&dense_[i], dense.rows, n, n, const_cast<void*>(dense.data),
                                       dense.type, CUSPARSE_ORDER_ROW),
                dense.describing);
    }
    return s;
  }

  Status allocate(std::size_t bytes) {
    auto buffer = runtime::cuda::DeviceBuffer::allocate(bytes + 1, "the buffer of cuSPARSE");
    if (!buffer) return tl::unexpected(buffer.error());
    buffer_ = std::move(*buffer);
    return {};
  }

  [[nodiscard]] void* buffer() const { return const_cast<std::byte*>(buffer_.data()); }

  /// Returns the constant 0 or 1 in the accumulator type.
  [[nodiscard]] const void* constant(int value) const {
    static constexpr double kDoubles[] = {0, 1};
    static constexpr float kFloats[] = {0, 1};
    return compute_ == CUDA_R_64F ? static_cast<const void*>(kDoubles + value) : kFloats + value;
  }

  cusparseSpMatDescr_t sparse_ = nullptr;
  cusparseDnMatDescr_t dense_[2] = {};
  cudaDataType type_, result_, compute_;

 private:
  runtime::cuda::DeviceBuffer buffer_;
};

class SpmmProduct final : public Product {
 public:
  SpmmProduct(cusparseSpMMAlg_t algorithm, const DeviceCsr& a) : Product(a), algorithm_(algorithm) {}

  Status prepare(const DeviceCsr& a, const runtime::Operands& operands, std::int64_t n) {
    const runtime::SpmmOperands o = runtime::to_spmm(operands);
    Status s = describe(a, a.values, type_, {a.cols, o.b, type_, "describing B"},
                        {a.rows, o.c, result_, "describing C"}, n);
    std::size_t bytes = 0;
    if (s) s = check(call(library().buffer_size, &bytes), "querying the buffer size");
    if (s) s = allocate(bytes);
    return s ? check(call(library().preprocess, buffer()), "preprocessing") : s;
  }

  [[nodiscard]] Status launch() const override {
    return check(call(library().multiply, buffer()), "multiplying");
  }

 private:
  template <class F, class Last>
  cusparseStatus_t call(F function, Last last) const {
    return function(library().handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE,
                    constant(1), sparse_, dense_[0], constant(0), dense_[1], compute_, algorithm_, last);
  }

  cusparseSpMMAlg_t algorithm_;
};

class SpmvProduct final : public Product {
 public:
  SpmvProduct(cusparseSpMVAlg_t algorithm, const DeviceCsr& a) : Product(a), algorithm_(algorithm) {}
  SpmvProduct(const SpmvProduct&) = delete;
  SpmvProduct& operator=(const SpmvProduct&) = delete;
  ~SpmvProduct() override {
    for (const cusparseDnVecDescr_t vector : vectors_)
      if (vector != nullptr) library().destroy_vector(vector);
  }

  Status prepare(const DeviceCsr& a, const runtime::Operands& operands, std::int64_t /*n*/) {
    const runtime::SpmmOperands o = runtime::to_spmm(operands);
    const Library& lib = library();
    Status s = describe(a, a.values, type_);
    if (s) s = check(lib.create_vector(&vectors_[0], a.cols, const_cast<void*>(o.b), type_), "describing B");
    if (s) s = check(lib.create_vector(&vectors_[1], a.rows, o.c, result_), "describing C");
    std::size_t bytes = 0;
    if (s) s = check(call(lib.vector_buffer_size, &bytes), "querying the buffer size");
    if (s) s = allocate(bytes);
    return s ? check(call(lib.vector_preprocess, buffer()), "preprocessing") : s;
  }

  [[nodiscard]] Status launch() const override {
    return check(call(library().multiply_vector, buffer()), "multiplying");
  }

 private:
  template <class F, class Last>
  cusparseStatus_t call(F function, Last last) const {
    return function(library().handle, CUSPARSE_OPERATION_NON_TRANSPOSE, constant(1), sparse_, vectors_[0],
                    constant(0), vectors_[1], compute_, algorithm_, last);
  }

  cusparseSpMVAlg_t algorithm_;
  cusparseDnVecDescr_t vectors_[2] = {};
};

class SddmmProduct final : public Product {
 public:
  using Product::Product;

  Status prepare(const DeviceCsr& a, const runtime::Operands& operands, std::int64_t n) {
    const runtime::SddmmOperands o = runtime::to_sddmm(operands);
    Status s = describe(a, o.out, result_, {a.rows, o.x, type_, "describing X"},
                        {a.cols, o.y, type_, "describing Y"}, n);
    std::size_t bytes = 0;
    if (s) s = check(call(library().sample_buffer_size, &bytes), "querying the buffer size");
    if (s) s = allocate(bytes);
    return s ? check(call(library().sample_preprocess, buffer()), "preprocessing") : s;
  }

  [[nodiscard]] Status launch() const override { return check(call(library().sample, buffer()), "sampling"); }

 private:
  template <class F, class Last>
  cusparseStatus_t call(F function, Last last) const {
    return function(library().handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE,
                    constant(1), dense_[0], dense_[1], constant(0), sparse_, compute_,
                    CUSPARSE_SDDMM_ALG_DEFAULT, last);
  }
};

Status start() {
  return library().handle != nullptr ? Status() : check(library().create(&library().handle), "starting");
}

using Prepare = Result<Launch> (*)(const DeviceCsr& a, const runtime::Operands& operands, std::int64_t n);

template <class Kind, auto... Algorithm>
Result<Launch> prepare(const DeviceCsr& a, const runtime::Operands& operands, std::int64_t n) {
  const auto product = std::make_shared<Kind>(Algorithm..., a);
  if (Status s = product->prepare(a, operands, n); !s) return tl::unexpected(s.error());
  return [product](cudaStream_t stream) {
    const Status s = check(library().set_stream(library().handle, stream), "selecting the stream");
    return s ? product->launch() : s;
  };
}

/// Operations that cuSPARSE supports.
struct Row {
  const runtime::Operation* op;
  std::string_view name;
  Prepare prepare;
  bool one_column = false;
};
constexpr Row kRows[] = {
    {&runtime::kSpmm, "cusparse.default", prepare<SpmmProduct, CUSPARSE_SPMM_ALG_DEFAULT>},
    {&runtime::kSpmm, "cusparse.alg2", prepare<SpmmProduct, CUSPARSE_SPMM_CSR_ALG2>},
    {&runtime::kSpmm, "cusparse.alg3", prepare<SpmmProduct, CUSPARSE_SPMM_CSR_ALG3>},
    {&runtime::kSpmm, "cusparse.spmv_alg1", prepare<SpmvProduct, CUSPARSE_SPMV_CSR_ALG1>, true},
    {&runtime::kSpmm, "cusparse.spmv_alg2", prepare<SpmvProduct, CUSPARSE_SPMV_CSR_ALG2>, true},
    {&runtime::kSddmm, "cusparse.sddmm", prepare<SddmmProduct>}};

}  // namespace

std::vector<std::string_view> cusparse_kernels(const runtime::Operation& op, std::int64_t n) {
  std::vector<std::string_view> names;
  for (const Row& row : kRows)
    if (row.op == &op && library().complete && (n == 1 || !row.one_column)) names.push_back(row.name);
  return names;
}

Result<Launch> prepare_cusparse(std::string_view kernel, const DeviceCsr& a,
                                const runtime::Operands& operands, std::int64_t n) {
  if (!library().complete) return fail(Errc::unsupported, "cuSPARSE cannot be loaded");
  if (Status s = start(); !s) return tl::unexpected(s.error());
  const auto row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.name == kernel; });
  return row->prepare(a, operands, n);
}

}  // namespace sptile::tools::cuda
