// The C++ interface of libsptile: the C interface (sptile.h) with owners, ranges and exceptions. Header only.
//
//   sptile::Bundle bundle("cora.h5");
//   auto plan = bundle.plan("bittcf", {.n = 128});
//   plan.run(b, c);  // std::vector<float> b(cols * 128), c(rows * 128)
#pragma once

#include <cstdint>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sptile.h"

namespace sptile {
inline namespace v1 {

/// Thrown by everything here; what() says what was wrong and what would be right.
class Exception : public std::runtime_error {
 public:
  Exception(sptile_status status, const std::string& message)
      : std::runtime_error(message), status_(status) {}
  [[nodiscard]] sptile_status status() const { return status_; }

 private:
  sptile_status status_;
};

/// Element types, numbered as in bundles.
enum class Type : std::int32_t {
  none = SPTILE_NONE,
  f16 = SPTILE_F16,
  bf16 = SPTILE_BF16,
  f32 = SPTILE_F32,
  f64 = SPTILE_F64
};

enum class Device : std::int32_t { cpu = SPTILE_CPU, cuda = SPTILE_CUDA };

/// How products are formed; see sptile_precision.
enum class Precision : std::int32_t {
  kernel_default = SPTILE_PRECISION_DEFAULT,
  fp32 = SPTILE_FP32,
  tf32 = SPTILE_TF32,
  fp16 = SPTILE_FP16,
  bf16 = SPTILE_PRECISION_BF16,
  fp64 = SPTILE_FP64
};

/// How one of several formats is chosen; see sptile_choice.
enum class Choice : std::int32_t { predicted = SPTILE_CHOICE_PREDICTED, measured = SPTILE_CHOICE_MEASURED };

/// Options of a plan.
struct PlanOptions {
  std::int64_t n = 0;        ///< columns of B and C, or of X and Y, >= 1
  Type dense = Type::f32;    ///< element type of the dense operands
  int threads = 0;           ///< 0: all that OpenMP gives
  bool trusted = false;      ///< skip the one-pass check of the arrays
  bool refreshable = false;  ///< keep a copy of the values so that Plan::refresh works
  bool strict_nonfinite = false;
  std::string kernel = {};  ///< name of a kernel to force; empty: the best one
  Device device = Device::cpu;
  Precision precision = Precision::kernel_default;  ///< the least exact products that will do
  int ordinal = 0;                                  ///< which CUDA device
  /// How Bundle::plan and plan_sddmm choose one of several formats and kernels: by the cost model, or by
  /// running each that is worth it while planning, see sptile_plan_spmm.
  Choice choice = Choice::predicted;
};

/// Options of a run.
struct RunOptions {
  double alpha = 1;
  double beta = 0;       ///< 0: the old contents of C do not matter
  std::int64_t ldb = 0;  ///< elements between rows of B; 0: n
  std::int64_t ldc = 0;  ///< elements between rows of C; 0: n
};

/// Options of a sampled product.
struct SampleOptions {
  double alpha = 1;
  double beta = 0;       ///< 0: the old contents of the result do not matter
  bool scaled = false;   ///< each dot product is multiplied by the value of its entry, too
  std::int64_t ldx = 0;  ///< elements between rows of X; 0: n
  std::int64_t ldy = 0;  ///< elements between rows of Y; 0: n
};

/// Borrows the values of a CSR matrix; from nothing: a pattern, where every entry is 1.
struct Values {
  Type type = Type::none;
  const void* data = nullptr;
  std::size_t size = 0;

  Values() = default;
  Values(Type element_type, const void* pointer, std::size_t count)
      : type(element_type), data(pointer), size(count) {}
  template <std::ranges::contiguous_range R>
  Values(const R& range)  // NOLINT: a range of numbers is values
      : type(type_of<std::ranges::range_value_t<R>>()),
        data(std::ranges::data(range)),
        size(std::ranges::size(range)) {}

 private:
  template <class T>
  static constexpr Type type_of() {
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>,
                  "float and double are deduced; for 16-bit types pass sptile::Values(type, data, size)");
    return std::is_same_v<T, double> ? Type::f64 : Type::f32;
  }
};

/// Borrows a CSR matrix: row_ptr has rows + 1 offsets, columns increase strictly within each row.
struct CsrMatrix {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::span<const std::int64_t> row_ptr;
  std::span<const std::int32_t> col_idx;
  Values values = {};
};

namespace detail {

inline void check(sptile_status status) {
  if (status != SPTILE_OK) throw Exception(status, sptile_last_error());
}

inline sptile_spmm_options to_c(const PlanOptions& options) {
  sptile_spmm_options c;
  check(sptile_spmm_options_init(&c, sizeof(c)));
  c.n = options.n;
  c.dense = static_cast<std::int32_t>(options.dense);
  c.threads = options.threads;
  c.trusted = options.trusted ? 1 : 0;
  c.refreshable = options.refreshable ? 1 : 0;
  c.nonfinite = options.strict_nonfinite ? SPTILE_NONFINITE_STRICT : SPTILE_NONFINITE_FAST;
  c.kernel = options.kernel.empty() ? nullptr : options.kernel.c_str();
  c.device = static_cast<std::int32_t>(options.device);
  c.precision = static_cast<std::int32_t>(options.precision);
  c.ordinal = options.ordinal;
  c.choice = static_cast<std::int32_t>(options.choice);
  return c;
}

/// Owns a handle of the C interface.
template <class Handle, void (*close)(Handle*)>
class Owner {
 public:
  Owner() = default;
  Owner(Owner&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owner& operator=(Owner&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owner() { close(handle_); }
  [[nodiscard]] Handle* get() const { return handle_; }
  Handle** out() { return &handle_; }

 private:
  Handle* handle_ = nullptr;
};

}  // namespace detail

/// A planned product: C = alpha A B + beta C, which run computes, or (Plan::sddmm, Bundle::plan_sddmm) X Y^T
/// at the entries of A, which sample computes. Any number of threads may run one plan at once on different
/// results.
class Plan {
 public:
  /// Plans for a matrix in memory. Its arrays are borrowed: keep them, unchanged, as long as the plan.
  explicit Plan(const CsrMatrix& a, const PlanOptions& options) : Plan(sptile_plan_spmm_csr, a, options) {}

  /// Plans dot products sampled at the entries of a matrix in memory, whose arrays are borrowed, too.
  [[nodiscard]] static Plan sddmm(const CsrMatrix& a, const PlanOptions& options) {
    return Plan(sptile_plan_sddmm_csr, a, options);
  }

  /// Plans for a CSR matrix in the memory of CUDA device options.ordinal: converted to `format` there. The
  /// spans are of device memory, which may go as soon as this returns; what writes it must be done, or be on
  /// the default stream.
  [[nodiscard]] static Plan from_device(const CsrMatrix& a, const std::string& format,
                                        const PlanOptions& options) {
    return Plan(sptile_plan_from_device_csr, a, format, options);
  }

  /// Plans sampled dot products for a matrix in device memory, as from_device. What sample_stream writes goes
  /// into a refreshable plan that from_device makes of the same matrix, type of values and format.
  [[nodiscard]] static Plan sddmm_from_device(const CsrMatrix& a, const std::string& format,
                                              const PlanOptions& options) {
    return Plan(sptile_plan_sddmm_from_device_csr, a, format, options);
  }

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t cols() const { return cols_; }
  [[nodiscard]] std::int64_t n() const { return n_; }
  /// Entries of the matrix: the elements that sample writes.
  [[nodiscard]] std::int64_t entries() const { return entries_; }
  /// Name of the kernel that runs, for example "cpu.bittcf.avx512".
  [[nodiscard]] std::string kernel() const {
    const char* name = nullptr;
    detail::check(sptile_plan_kernel(handle_.get(), &name));
    return name;
  }

  /// Name of the format that it multiplies with, for example "bittcf".
  [[nodiscard]] std::string format() const {
    const char* name = nullptr;
    detail::check(sptile_plan_format(handle_.get(), &name));
    return name;
  }

  /// Runs on contiguous ranges of elements of the planned type (16-bit types: any type of two bytes), B with
  /// cols and C with rows rows, row-major. Throws when a range is too short or of another type.
  template <std::ranges::contiguous_range B, std::ranges::contiguous_range C>
  void run(const B& b, C&& c, const RunOptions& options = {}) const {
    if (device_ != Device::cpu)
      throw Exception(SPTILE_USAGE, "a plan for a CUDA device runs on device memory: call run_stream");
    const std::int64_t ldb = options.ldb != 0 ? options.ldb : n_, ldc = options.ldc != 0 ? options.ldc : n_;
    check_range<std::ranges::range_value_t<B>>("B", std::ranges::ssize(b), cols_, ldb);
    check_range<std::ranges::range_value_t<C>>("C", std::ranges::ssize(c), rows_, ldc);
    run_raw(std::ranges::data(b), ldb, std::ranges::data(c), ldc, options.alpha, options.beta);
  }

  /// Runs on bare pointers; ldb and ldc are in elements. Only leading dimensions are checked.
  void run_raw(const void* b, std::int64_t ldb, void* c, std::int64_t ldc, double alpha = 1,
               double beta = 0) const {
    detail::check(sptile_spmm(handle_.get(), alpha, b, ldb, beta, c, ldc));
  }

  /// Enqueues on a stream of the plan's CUDA device (nullptr: the default one); all pointers are device
  /// memory. Runs of one plan at the same time need a workspace each: workspace_bytes() zeroed bytes.
  /// Throws when workspace_size says that it is too small.
  void run_stream(const void* b, std::int64_t ldb, void* c, std::int64_t ldc, void* stream, double alpha = 1,
                  double beta = 0, void* workspace = nullptr, std::size_t workspace_size = SIZE_MAX) const {
    detail::check(sptile_spmm_sized_workspace(handle_.get(), alpha, b, ldb, beta, c, ldc, workspace,
                                              workspace_size, stream));
  }

  /// Bytes of device memory that one run needs beside its operands; 0 on the CPU.
  [[nodiscard]] std::size_t workspace_bytes() const {
    std::size_t bytes = 0;
    detail::check(sptile_plan_workspace(handle_.get(), &bytes));
    return bytes;
  }

  /// How the plan forms products.
  [[nodiscard]] Precision precision() const {
    sptile_precision precision = SPTILE_PRECISION_DEFAULT;
    detail::check(sptile_plan_precision(handle_.get(), &precision));
    return static_cast<Precision>(precision);
  }

  /// Samples X Y^T, with X of rows and Y of cols rows, at the entries of the matrix; contiguous ranges as for
  /// run. `out` has at least entries() elements, in the order of the format's values: refresh_packed gives
  /// them to a plan of the same format that multiplies.
  template <std::ranges::contiguous_range X, std::ranges::contiguous_range Y,
            std::ranges::contiguous_range Out>
  void sample(const X& x, const Y& y, Out&& out, const SampleOptions& options = {}) const {
    if (device_ != Device::cpu)
      throw Exception(SPTILE_USAGE, "a plan for a CUDA device samples device memory: call sample_stream");
    const std::int64_t ldx = options.ldx != 0 ? options.ldx : n_, ldy = options.ldy != 0 ? options.ldy : n_;
    check_range<std::ranges::range_value_t<X>>("X", std::ranges::ssize(x), rows_, ldx);
    check_range<std::ranges::range_value_t<Y>>("Y", std::ranges::ssize(y), cols_, ldy);
    check_type<std::ranges::range_value_t<Out>>("the result");
    if (std::ranges::ssize(out) < entries_)
      throw Exception(SPTILE_USAGE, "the result has " + std::to_string(std::ranges::ssize(out)) +
                                        " elements, too few for " + std::to_string(entries_) + " entries");
    sample_stream(std::ranges::data(x), std::ranges::data(y), std::ranges::data(out), nullptr, options);
  }

  /// Enqueues on a stream of the plan's CUDA device (nullptr: the default one); all pointers are device
  /// memory. A plan for the CPU takes pointers to host memory and no stream. Only leading dimensions are
  /// checked.
  void sample_stream(const void* x, const void* y, void* out, void* stream,
                     const SampleOptions& options = {}) const {
    detail::check(sptile_sddmm_stream(handle_.get(), options.alpha, x, options.ldx != 0 ? options.ldx : n_, y,
                                      options.ldy != 0 ? options.ldy : n_, options.beta, out,
                                      options.scaled ? 1 : 0, stream));
  }

  /// Replaces the values by what sample of a plan of the same format wrote; needs PlanOptions::refreshable.
  /// With a CUDA plan `values` are device memory, and the copy is enqueued on the stream. Not while the plan
  /// runs.
  void refresh_packed(const Values& values, void* stream = nullptr) {
    detail::check(sptile_plan_refresh_packed(handle_.get(), values.data,
                                             static_cast<sptile_dtype>(values.type),
                                             static_cast<std::int64_t>(values.size), stream));
  }

  /// Replaces the values; needs PlanOptions::refreshable. Not while the plan runs.
  void refresh(const Values& values) {
    detail::check(sptile_plan_refresh(handle_.get(), values.data, static_cast<sptile_dtype>(values.type),
                                      static_cast<std::int64_t>(values.size)));
  }

 private:
  friend class Bundle;
  Plan() = default;
  Plan(decltype(sptile_plan_spmm_csr)* plan, const CsrMatrix& a, const PlanOptions& options) {
    check_sizes(a);
    if (a.row_ptr.back() != std::ssize(a.col_idx))
      throw Exception(SPTILE_USAGE, "row_ptr ends with " + std::to_string(a.row_ptr.back()) +
                                        ", col_idx has " + std::to_string(a.col_idx.size()) + " elements");
    const sptile_spmm_options c = detail::to_c(options);
    detail::check(plan(a.rows, a.cols, a.row_ptr.data(), a.col_idx.data(), a.values.data,
                       static_cast<sptile_dtype>(a.values.type), &c, handle_.out()));
    device_ = options.device;
    read_shape();
  }

  Plan(decltype(sptile_plan_from_device_csr)* plan, const CsrMatrix& a, const std::string& format,
       const PlanOptions& options) {
    check_sizes(a);
    const sptile_spmm_options c = detail::to_c(options);
    detail::check(plan(a.rows, a.cols, std::ssize(a.col_idx), a.row_ptr.data(), a.col_idx.data(),
                       a.values.data, static_cast<sptile_dtype>(a.values.type), format.c_str(), &c,
                       handle_.out()));
    device_ = options.device;
    read_shape();
  }

  /// Reads no element: they may be in device memory.
  static void check_sizes(const CsrMatrix& a) {
    if (a.row_ptr.empty() || std::ssize(a.row_ptr) - 1 != a.rows)
      throw Exception(SPTILE_USAGE, "row_ptr has " + std::to_string(a.row_ptr.size()) +
                                        " offsets; a matrix of " + std::to_string(a.rows) +
                                        " rows needs one more than rows");
    if (a.values.type != Type::none && a.values.size != a.col_idx.size())
      throw Exception(SPTILE_USAGE, "there are " + std::to_string(a.values.size) + " values for " +
                                        std::to_string(a.col_idx.size()) + " columns in col_idx");
  }

  void read_shape() {
    detail::check(sptile_plan_shape(handle_.get(), &rows_, &cols_, &n_));
    detail::check(sptile_plan_entries(handle_.get(), &entries_));
    sptile_dtype dense = SPTILE_NONE;
    detail::check(sptile_plan_dense(handle_.get(), &dense));
    dense_ = static_cast<Type>(dense);
  }

  template <class T>
  void check_type(const char* name) const {
    const bool fits = dense_ == Type::f32   ? std::is_same_v<T, float>
                      : dense_ == Type::f64 ? std::is_same_v<T, double>
                                            : sizeof(T) == 2 && std::is_trivially_copyable_v<T>;
    if (!fits) throw Exception(SPTILE_USAGE, std::string(name) + " is not of the planned element type");
  }

  template <class T>
  void check_range(const char* name, std::int64_t size, std::int64_t rows, std::int64_t stride) const {
    check_type<T>(name);
    // size >= (rows - 1) * stride + n, without overflow
    if (rows > 0 && (stride < n_ || size < n_ || (size - n_) / stride < rows - 1))
      throw Exception(SPTILE_USAGE, std::string(name) + " has " + std::to_string(size) +
                                        " elements, too few for " + std::to_string(rows) + " rows of " +
                                        std::to_string(n_));
  }

  detail::Owner<sptile_plan, sptile_plan_destroy> handle_;
  std::int64_t rows_ = 0, cols_ = 0, n_ = 0, entries_ = 0;
  Type dense_ = Type::f32;
  Device device_ = Device::cpu;
};

/// One way to do a product: a format and a kernel for it.
struct Prediction {
  std::string format;
  std::string kernel;        ///< empty: the device has none for the format
  double microseconds = -1;  ///< predicted; negative: there is no model for the kernel
  Precision precision = Precision::kernel_default;
  bool usable = false;  ///< false: no kernel for these types or this precision
  bool chosen = false;

  Prediction() = default;
  explicit Prediction(const sptile_prediction& c)
      : format(c.format),
        kernel(c.kernel == nullptr ? "" : c.kernel),
        microseconds(c.microseconds),
        precision(static_cast<Precision>(c.precision)),
        usable(c.usable != 0),
        chosen(c.chosen != 0) {}
};

/// An open bundle.
class Bundle {
 public:
  /// Maps the file; with copy it is read into memory instead, for folders that others can write.
  explicit Bundle(const std::string& path, bool copy = false) {
    detail::check(sptile_bundle_open(path.c_str(), copy ? 1 : 0, handle_.out()));
    detail::check(sptile_bundle_shape(handle_.get(), &rows_, &cols_, &nnz_));
  }

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t cols() const { return cols_; }
  [[nodiscard]] std::int64_t nnz() const { return nnz_; }
  /// Element type of the source values; none for a pattern.
  [[nodiscard]] Type type() const {
    sptile_dtype dtype = SPTILE_NONE;
    detail::check(sptile_bundle_dtype(handle_.get(), &dtype));
    return static_cast<Type>(dtype);
  }
  /// Names of the formats in the bundle, "csr" first.
  [[nodiscard]] std::vector<std::string> formats() const {
    int count = 0;
    detail::check(sptile_bundle_format_count(handle_.get(), &count));
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i) {
      const char* name = nullptr;
      detail::check(sptile_bundle_format_name(handle_.get(), i, &name));
      names.emplace_back(name);
    }
    return names;
  }

  /// Plans with one of the formats, or with the one predicted (or measured, see PlanOptions::choice) to be
  /// fastest: of all ("auto"), of several names with commas. The plan stays valid when the bundle goes.
  [[nodiscard]] Plan plan(const std::string& format, const PlanOptions& options) const {
    return planned(sptile_plan_spmm, format, options);
  }

  /// Plans dot products sampled at the entries of the matrix, in the order of one of the formats.
  [[nodiscard]] Plan plan_sddmm(const std::string& format, const PlanOptions& options) const {
    return planned(sptile_plan_sddmm, format, options);
  }

  /// Predicts what the formats would take: the list that plan chooses from.
  [[nodiscard]] std::vector<Prediction> predict(const PlanOptions& options,
                                                const std::string& formats = "auto") const {
    const sptile_spmm_options c = detail::to_c(options);
    int count = 0;
    const auto fill = [&](std::vector<sptile_prediction>& list) {
      detail::check(sptile_predict_spmm(handle_.get(), formats.c_str(), &c, list.data(),
                                        sizeof(sptile_prediction), static_cast<int>(list.size()), &count));
    };
    std::vector<sptile_prediction> list(64);
    fill(list);
    if (static_cast<std::size_t>(count) > list.size()) {
      list.resize(static_cast<std::size_t>(count));
      fill(list);
    }
    std::vector<Prediction> predictions;
    for (int i = 0; i < count; ++i) predictions.emplace_back(list[static_cast<std::size_t>(i)]);
    return predictions;
  }

 private:
  Plan planned(decltype(sptile_plan_spmm)* make, const std::string& format,
               const PlanOptions& options) const {
    const sptile_spmm_options c = detail::to_c(options);
    Plan plan;
    detail::check(make(handle_.get(), format.c_str(), &c, plan.handle_.out()));
    plan.device_ = options.device;
    plan.read_shape();
    return plan;
  }

  detail::Owner<sptile_bundle, sptile_bundle_close> handle_;
  std::int64_t rows_ = 0, cols_ = 0, nnz_ = 0;
};

}  // namespace v1
}  // namespace sptile
