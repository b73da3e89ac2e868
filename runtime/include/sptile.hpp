// The C++ interface of libsptile: a header over the C interface (sptile.h) with RAII handles, ranges and
// exceptions.
//
//   sptile::Matrix a("cora.h5");
//   auto plan = a.plan("spmm", {.n = 128});
//   plan.run(b, c);  // std::vector<float> b(cols * 128), c(rows * 128)
#pragma once

#if !defined(__cplusplus) || __cplusplus < 202002L
#error "sptile.hpp needs C++20: compile with -std=c++20 (or later), or use the C interface, sptile.h"
#else

#include <array>
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

/// The exception of this interface. what() states the cause and the remedy.
class Exception : public std::runtime_error {
 public:
  /// Creates an exception with a status and a message.
  Exception(sptile_status status, const std::string& message)
      : std::runtime_error(message), status_(status) {}
  /// Returns the status, which is also the exit code that the command would return.
  [[nodiscard]] sptile_status status() const { return status_; }

 private:
  sptile_status status_;
};

/// Element types; see sptile_dtype.
enum class Type : std::int32_t {
  none = SPTILE_DTYPE_NONE,
  f16 = SPTILE_DTYPE_F16,
  bf16 = SPTILE_DTYPE_BF16,
  f32 = SPTILE_DTYPE_F32,
  f64 = SPTILE_DTYPE_F64
};

enum class Device : std::int32_t { cpu = SPTILE_DEVICE_CPU, cuda = SPTILE_DEVICE_CUDA };

/// Precision of products; see sptile_precision.
enum class Precision : std::int32_t {
  kernel_default = SPTILE_PRECISION_DEFAULT,
  fp32 = SPTILE_PRECISION_FP32,
  tf32 = SPTILE_PRECISION_TF32,
  fp16 = SPTILE_PRECISION_FP16,
  bf16 = SPTILE_PRECISION_BF16,
  fp64 = SPTILE_PRECISION_FP64
};

/// An attribute of a plan or of a run: {"heads", 8} or {"score", SPTILE_SCORE_COSINE}. sptile_describe lists
/// them. The name is borrowed.
struct Attribute : sptile_attribute {
  /// Creates an attribute from a number, a bool or an enumerator.
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  constexpr Attribute(const char* attribute, T number)
      : sptile_attribute{attribute, static_cast<double>(number)} {}
};
/// Arrays of both types have the same layout.
static_assert(sizeof(Attribute) == sizeof(sptile_attribute));

/// Options of a matrix; see sptile_matrix_options.
struct MatrixOptions {
  bool refreshable = false;  ///< formats own their values, as Matrix::refresh requires
  bool trusted = false;      ///< skip the one-pass check of the arrays
  bool copy = false;         ///< read a file instead of mapping it; copy arrays instead of borrowing them
  std::uint64_t most_device_bytes = 0;  ///< limit for the formats in device memory; 0: none
  std::string matrix = {};              ///< name of a matrix in a bundle with several; empty: the first
};

/// Options of a plan; see sptile_plan_options.
struct PlanOptions {
  std::int64_t n = 0;        ///< maximum number of columns of the dense operands, >= 1
  std::string format = {};   ///< a name, or a comma-separated list of candidates; empty: all stored formats
  std::string kernel = {};   ///< name of a kernel to force; empty: the best one
  Type dense = Type::f32;    ///< element type of the dense operands
  Type result = Type::none;  ///< element type of the result: f32 if `dense` has 16 bits; none: as `dense`
  int threads = 0;           ///< maximum number of CPU threads of a run; 0: see sptile.h
  Device device = Device::cpu;
  int ordinal = 0;                         ///< CUDA device number
  bool transpose = false;                  ///< use A^T instead of A; not for "sddmm"
  void* stream = nullptr;                  ///< cudaStream_t that converts arrays in device memory
  std::vector<Attribute> attributes = {};  ///< for example {{"heads", 8}}
};

/// Options of Plan::run for SpMM.
struct RunOptions {
  double alpha = 1;
  double beta = 0;       ///< 0: the previous contents of C are not read
  std::int64_t ldb = 0;  ///< elements between rows of B; 0: n
  std::int64_t ldc = 0;  ///< elements between rows of C; 0: n
  std::int64_t n = 0;    ///< columns of this run, at most as planned; 0: as planned
};

/// Options of Plan::sample for SDDMM.
struct SampleOptions {
  double alpha = 1;
  double beta = 0;       ///< 0: the previous contents of the result are not read
  bool scaled = false;   ///< multiply each dot product by the value of its entry
  std::int64_t ldx = 0;  ///< elements between rows of X; 0: n
  std::int64_t ldy = 0;  ///< elements between rows of Y; 0: n
  std::int64_t n = 0;    ///< columns of X and Y in this run, at most as planned; 0: as planned
};

/// A dense row-major operand. Only results are written.
struct Operand {
  const void* data = nullptr;
  std::int64_t ld = 0;     ///< elements between rows; 0: its columns
  std::int64_t batch = 0;  ///< elements between heads; 0: without gaps, or all the same if heads may share it
};

/// Operands of one run of any operation; see sptile_operands.
struct Operands {
  std::array<Operand, SPTILE_MAX_OPERANDS + SPTILE_MORE_OPERANDS> dense =
      {};  ///< in the order of the operation
  double alpha = 1;
  double beta = 0;
  std::int64_t n = 0;                      ///< columns of this run, at most as planned; 0: as planned
  Operand values = {};                     ///< values for this run only; see sptile_operands
  std::vector<Attribute> attributes = {};  ///< for example {{"slope", 0.1}}
};

/// Zero-initialized device memory for concurrent runs of one plan on several streams.
struct Workspace {
  void* data = nullptr;
  std::size_t bytes = 0;
};

/// Borrowed values of a matrix. Default-constructed: a pattern, where every entry is 1.
struct Values {
  Type type = Type::none;
  const void* data = nullptr;
  std::size_t size = 0;

  Values() = default;
  Values(Type element_type, const void* pointer, std::size_t count)
      : type(element_type), data(pointer), size(count) {}
  template <std::ranges::contiguous_range R>
  Values(const R& range)  // NOLINT: a range of numbers is values
      : type(type_of<std::ranges::range_value_t<R> >()),
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

/// A CSR matrix in host memory or in the memory of a CUDA device: rows + 1 row offsets; columns strictly
/// ascending within each row.
struct CsrMatrix {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::span<const std::int64_t> row_ptr;
  std::span<const std::int32_t> col_idx;
  Values values = {};
  Device device = Device::cpu;  ///< device that contains all arrays
  int ordinal = 0;              ///< CUDA device number
};

namespace detail {

inline void check(sptile_status status) {
  if (status != SPTILE_STATUS_OK) throw Exception(status, sptile_last_error());
}

inline sptile_operand to_c(const Operand& operand) {
  return {const_cast<void*>(operand.data), operand.ld, operand.batch};
}

inline sptile_plan_options to_c(const PlanOptions& options) {
  sptile_plan_options c = SPTILE_PLAN_OPTIONS_INIT;
  c.n = options.n;
  c.format = options.format.empty() ? nullptr : options.format.c_str();
  c.kernel = options.kernel.empty() ? nullptr : options.kernel.c_str();
  c.dense = static_cast<std::int32_t>(options.dense);
  c.threads = options.threads;
  c.device = static_cast<std::int32_t>(options.device);
  c.ordinal = options.ordinal;
  c.transpose = options.transpose ? 1 : 0;
  c.result = static_cast<std::int32_t>(options.result);
  c.stream = options.stream;
  c.attributes = options.attributes.data();
  c.attribute_count = static_cast<std::int32_t>(options.attributes.size());
  return c;
}

inline sptile_matrix_options to_c(const MatrixOptions& options) {
  sptile_matrix_options c = SPTILE_MATRIX_OPTIONS_INIT;
  c.refreshable = options.refreshable ? 1 : 0;
  c.trusted = options.trusted ? 1 : 0;
  c.copy = options.copy ? 1 : 0;
  c.most_device_bytes = options.most_device_bytes;
  if (!options.matrix.empty()) c.matrix = options.matrix.c_str();
  return c;
}

/// A move-only owner of a handle of the C interface.
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

/// A planned operation. Any number of threads may run one plan concurrently, each with its own result.
class Plan {
 public:
  [[nodiscard]] std::int64_t rows() const { return info_.rows; }
  [[nodiscard]] std::int64_t cols() const { return info_.cols; }
  [[nodiscard]] std::int64_t n() const { return info_.n; }
  /// Returns the number of columns below which a new plan may be faster.
  [[nodiscard]] std::int64_t least_n() const { return info_.least_n; }
  /// Returns whether the plan was stored in the bundle.
  [[nodiscard]] bool stored() const { return info_.stored != 0; }
  /// Returns the number of entries of the matrix, which is the size of the result of sample().
  [[nodiscard]] std::int64_t entries() const { return info_.entries; }
  /// Returns the name of the operation, for example "spmm".
  [[nodiscard]] std::string operation() const { return info_.operation; }
  /// Returns the name of the format, for example "bittcf".
  [[nodiscard]] std::string format() const { return info_.format; }
  /// Returns the name of the kernel, for example "cpu.csr.avx512".
  [[nodiscard]] std::string kernel() const { return info_.kernel; }
  /// Returns the precision of the products.
  [[nodiscard]] Precision precision() const { return static_cast<Precision>(info_.precision); }
  /// Returns the bytes of device memory that one run needs in addition to its operands; 0 on the CPU.
  [[nodiscard]] std::size_t workspace_bytes() const { return info_.workspace_bytes; }

  /// Runs any operation on pointers: on the CPU, or enqueued on a stream of the plan's CUDA device (nullptr:
  /// the default stream) with all operands in device memory. Only leading dimensions are checked.
  void run(const Operands& operands, void* stream = nullptr, const Workspace& workspace = {}) const {
    sptile_operands c = SPTILE_OPERANDS_INIT;
    for (std::size_t i = 0; i < operands.dense.size(); ++i)
      (i < SPTILE_MAX_OPERANDS ? c.dense[i] : c.more[i - SPTILE_MAX_OPERANDS]) =
          detail::to_c(operands.dense[i]);
    c.alpha = operands.alpha;
    c.beta = operands.beta;
    c.n = operands.n;
    c.values = detail::to_c(operands.values);
    c.attributes = operands.attributes.data();
    c.attribute_count = static_cast<std::int32_t>(operands.attributes.size());
    const sptile_workspace scratch = {workspace.data, workspace.bytes};
    detail::check(sptile_run(handle_.get(), &c, stream, workspace.data == nullptr ? nullptr : &scratch));
  }

  /// Computes C = alpha A B + beta C on contiguous ranges of the planned type (for 16-bit types: any type of
  /// two bytes). B has cols() rows and C has rows() rows. Throws if a range is too short or of another type.
  template <std::ranges::contiguous_range B, std::ranges::contiguous_range C>
  void run(const B& b, C&& c, const RunOptions& options = {}) const {
    check_host("spmm");
    const Shape in = {cols(), columns(options.n), options.ldb},
                out = {rows(), columns(options.n), options.ldc};
    check_range<std::ranges::range_value_t<B> >("B", std::ranges::ssize(b), in, dense());
    check_range<std::ranges::range_value_t<C> >("C", std::ranges::ssize(c), out, result());
    run({.dense = {{{std::ranges::data(b), in.stride(), 0}, {std::ranges::data(c), out.stride(), 0}}},
         .alpha = options.alpha,
         .beta = options.beta,
         .n = options.n});
  }

  /// Computes out = alpha (X Y^T at the entries) + beta out. X has rows() rows, Y has cols() rows, and out
  /// has at least entries() elements in the planned order. Matrix::refresh accepts packed results.
  template <std::ranges::contiguous_range X, std::ranges::contiguous_range Y,
            std::ranges::contiguous_range Out>
  void sample(const X& x, const Y& y, Out&& out, const SampleOptions& options = {}) const {
    check_host("sddmm");
    const Shape left = {rows(), columns(options.n), options.ldx},
                right = {cols(), columns(options.n), options.ldy};
    check_range<std::ranges::range_value_t<X> >("X", std::ranges::ssize(x), left, dense());
    check_range<std::ranges::range_value_t<Y> >("Y", std::ranges::ssize(y), right, dense());
    check_type<std::ranges::range_value_t<Out> >("the result", result());
    if (std::ranges::ssize(out) < entries())
      throw Exception(SPTILE_STATUS_USAGE, "the result has " + std::to_string(std::ranges::ssize(out)) +
                                               " elements, too few for " + std::to_string(entries()) +
                                               " entries");
    run({.dense = {{{std::ranges::data(x), left.stride(), 0},
                    {std::ranges::data(y), right.stride(), 0},
                    {std::ranges::data(out), 0, 0}}},
         .alpha = options.alpha,
         .beta = options.beta,
         .n = options.n,
         .attributes = {{"scaled", options.scaled}}});
  }

  /// Returns the handle of the C interface. The plan keeps ownership.
  [[nodiscard]] const sptile_plan* get() const { return handle_.get(); }

 private:
  friend class Matrix;
  Plan(sptile_matrix* matrix, const std::string& operation, const PlanOptions& options) {
    const sptile_plan_options c = detail::to_c(options);
    detail::check(sptile_plan_create(matrix, operation.c_str(), &c, handle_.out()));
    info_.size = sizeof info_;
    detail::check(sptile_plan_describe(handle_.get(), &info_));
  }

  void check_host(const std::string& wanted) const {
    if (operation() != wanted)
      throw Exception(SPTILE_STATUS_USAGE, "the plan was made for " + operation() + ", not for " + wanted);
    if (info_.device != SPTILE_DEVICE_CPU)
      throw Exception(SPTILE_STATUS_USAGE, "a CUDA plan requires device memory: run(Operands, stream)");
  }

  /// A dense operand of a run.
  struct Shape {
    std::int64_t rows, columns, ld;
    [[nodiscard]] std::int64_t stride() const { return ld != 0 ? ld : columns; }
  };

  /// Columns of a run.
  [[nodiscard]] std::int64_t columns(std::int64_t wanted) const {
    if (wanted < 0 || wanted > n())
      throw Exception(SPTILE_STATUS_USAGE, "n = " + std::to_string(wanted) + ", but the plan supports 1 to " +
                                               std::to_string(n()));
    return wanted != 0 ? wanted : n();
  }

  template <class T>
  void check_type(const char* name, Type type) const {
    const bool fits = type == Type::f32   ? std::is_same_v<T, float>
                      : type == Type::f64 ? std::is_same_v<T, double>
                                          : sizeof(T) == 2 && std::is_trivially_copyable_v<T>;
    if (!fits)
      throw Exception(SPTILE_STATUS_USAGE, std::string(name) + " does not have the planned element type");
  }

  template <class T>
  void check_range(const char* name, std::int64_t size, const Shape& shape, Type type) const {
    check_type<T>(name, type);
    // size >= (rows - 1) * stride + columns, without overflow
    if (shape.rows > 0 && (shape.stride() < shape.columns || size < shape.columns ||
                           (size - shape.columns) / shape.stride() < shape.rows - 1))
      throw Exception(SPTILE_STATUS_USAGE, std::string(name) + " has " + std::to_string(size) +
                                               " elements, too few for " + std::to_string(shape.rows) +
                                               " rows of " + std::to_string(shape.columns));
  }

  [[nodiscard]] Type dense() const { return static_cast<Type>(info_.dense); }
  [[nodiscard]] Type result() const { return static_cast<Type>(info_.result); }

  detail::Owner<sptile_plan, sptile_plan_destroy> handle_;
  sptile_plan_info info_ = {};
};

/// One part of a partition with its exchange lists, which the constructor checks. Matrix(part) and
/// Matrix(part, "halo") create its matrices. See sptile_part_info.
class Part {
 public:
  explicit Part(const std::string& path, bool copy = false) {
    const sptile_matrix_options options = detail::to_c(MatrixOptions{.copy = copy});
    detail::check(sptile_part_open(path.c_str(), &options, handle_.out()));
    info_.size = sizeof info_;
    detail::check(sptile_part_describe(handle_.get(), &info_));
  }

  [[nodiscard]] std::uint64_t id() const { return info_.id; }
  [[nodiscard]] std::int64_t rank() const { return info_.rank; }
  [[nodiscard]] std::int64_t parts() const { return info_.parts; }
  /// Returns the number of rows of the entire matrix.
  [[nodiscard]] std::int64_t rows() const { return info_.rows; }
  [[nodiscard]] std::int64_t entries() const { return info_.entries; }
  [[nodiscard]] bool symmetric() const { return info_.symmetric != 0; }
  /// Returns the number of rows of this part; needed() counts the rows of other parts that it reads.
  [[nodiscard]] std::int64_t owned() const { return info_.owned; }
  [[nodiscard]] std::int64_t needed() const { return info_.needed; }
  /// Returns the number of rows before the first one with entries in halo. Only later rows need rows of other
  /// parts.
  [[nodiscard]] std::int64_t interior() const { return info_.interior; }
  [[nodiscard]] std::span<const std::int32_t> old_ids() const { return list(info_.old_ids, owned()); }
  [[nodiscard]] std::span<const std::int32_t> halo_ids() const { return list(info_.halo_ids, needed()); }
  [[nodiscard]] std::span<const std::int64_t> send_offset() const {
    return list(info_.send_offset, parts() + 1);
  }
  [[nodiscard]] std::span<const std::int64_t> receive_offset() const {
    return list(info_.receive_offset, parts() + 1);
  }
  [[nodiscard]] std::span<const std::int32_t> send_rows() const {
    return list(info_.send_rows, send_offset().back());
  }

  /// Returns the handle of the C interface. The part keeps ownership.
  [[nodiscard]] const sptile_part* get() const { return handle_.get(); }

 private:
  template <class T>
  static std::span<const T> list(const T* data, std::int64_t size) {
    return {data, static_cast<std::size_t>(size)};
  }

  detail::Owner<sptile_part, sptile_part_destroy> handle_;
  sptile_part_info info_ = {};
};

/// The predicted time of a format and kernel.
struct Prediction {
  std::string format;
  std::string kernel;        ///< empty: the device has no kernel for the format
  double microseconds = -1;  ///< negative: the model has no constants for the kernel
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

/// A matrix. Its plans share its formats.
class Matrix {
 public:
  /// Opens a bundle.
  explicit Matrix(const std::string& path, const MatrixOptions& options = {}) {
    const sptile_matrix_options c = detail::to_c(options);
    detail::check(sptile_matrix_open(path.c_str(), &c, handle_.out()));
  }

  /// Creates a matrix of an open part: `local`, or "halo". The file is not opened again.
  explicit Matrix(const Part& part, const std::string& name = "", const MatrixOptions& options = {}) {
    const sptile_matrix_options c = detail::to_c(options);
    detail::check(sptile_part_matrix(part.get(), name.c_str(), &c, handle_.out()));
  }

  /// Joins all parts in the directory of an open part into the entire matrix. See sptile_part_whole.
  [[nodiscard]] static Matrix whole(const Part& part, const std::string& folder) {
    Matrix all;
    detail::check(sptile_part_whole(part.get(), folder.c_str(), all.handle_.out()));
    return all;
  }

  /// Creates a matrix from arrays. They are borrowed unless MatrixOptions::copy is set: keep them unchanged
  /// as long as the matrix and its plans.
  explicit Matrix(const CsrMatrix& a, const MatrixOptions& options = {}, void* stream = nullptr) {
    const sptile_arrays arrays = arrays_of(a);
    const sptile_matrix_options c = detail::to_c(options);
    detail::check(sptile_matrix_create(&arrays, &c, stream, handle_.out()));
  }

  /// Joins matrices on the diagonal of one matrix and copies them. The operands are concatenated. See
  /// sptile_matrix_create_batch.
  [[nodiscard]] static Matrix block_diagonal(std::span<const CsrMatrix> parts,
                                             const MatrixOptions& options = {}, void* stream = nullptr) {
    return Matrix(parts, SPTILE_ARRANGEMENT_BLOCK_DIAGONAL, options, stream);
  }
  /// Concatenates the rows of matrices with the same columns, which are all multiplied by one B.
  [[nodiscard]] static Matrix stacked(std::span<const CsrMatrix> parts, const MatrixOptions& options = {},
                                      void* stream = nullptr) {
    return Matrix(parts, SPTILE_ARRANGEMENT_STACKED, options, stream);
  }

  /// Creates another matrix over the same data with other options. See sptile_matrix_share.
  [[nodiscard]] Matrix share(const MatrixOptions& options) const {
    const sptile_matrix_options c = detail::to_c(options);
    Matrix other;
    detail::check(sptile_matrix_share(handle_.get(), &c, other.handle_.out()));
    return other;
  }

  [[nodiscard]] std::int64_t rows() const { return describe().rows; }
  [[nodiscard]] std::int64_t cols() const { return describe().cols; }
  [[nodiscard]] std::int64_t nnz() const { return describe().nnz; }
  /// Returns the element type of the source values; none for a pattern.
  [[nodiscard]] Type type() const { return static_cast<Type>(describe().value_dtype); }
  /// Returns all properties, including the memory in use.
  [[nodiscard]] sptile_matrix_info describe() const {
    sptile_matrix_info info = {};
    info.size = sizeof info;
    detail::check(sptile_matrix_describe(handle_.get(), &info));
    return info;
  }
  /// Returns the names of the stored formats, "csr" first.
  [[nodiscard]] std::vector<std::string> formats() const {
    std::vector<std::string> names;
    for (int i = 0, count = describe().format_count; i < count; ++i) {
      const char* name = nullptr;
      detail::check(sptile_matrix_format(handle_.get(), i, &name));
      names.emplace_back(name);
    }
    return names;
  }

  /// Returns the CSR arrays in the original row order. They belong to the matrix. See sptile_matrix_arrays.
  [[nodiscard]] CsrMatrix csr() const {
    sptile_arrays a = SPTILE_ARRAYS_INIT;
    detail::check(sptile_matrix_arrays(handle_.get(), &a));
    const auto entries = static_cast<std::size_t>(a.nnz);
    return {a.rows,
            a.cols,
            {static_cast<const std::int64_t*>(a.row), static_cast<std::size_t>(a.rows) + 1},
            {static_cast<const std::int32_t*>(a.col), entries},
            {static_cast<Type>(a.value_dtype), a.values, a.value_dtype == SPTILE_DTYPE_NONE ? 0 : entries},
            static_cast<Device>(a.device),
            a.ordinal};
  }

  /// Plans an operation; see sptile_plan_create. The plan remains valid after the matrix is destroyed.
  [[nodiscard]] Plan plan(const std::string& operation, const PlanOptions& options) {
    return Plan(handle_.get(), operation, options);
  }

  /// Predicts the times of the stored formats, the candidates of plan().
  [[nodiscard]] std::vector<Prediction> predict(const std::string& operation,
                                                const PlanOptions& options) const {
    const sptile_plan_options c = detail::to_c(options);
    int count = 0;
    const auto fill = [&](std::vector<sptile_prediction>& list) {
      detail::check(sptile_predict(handle_.get(), operation.c_str(), &c, list.data(),
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

  /// Replaces the values in all formats, and thus for all plans. Requires MatrixOptions::refreshable. Values
  /// are in the order of the source matrix; those in device memory are moved on the stream. No plan may run
  /// meanwhile.
  void refresh(const Values& values, void* stream = nullptr) { refresh_as(values, nullptr, stream); }
  /// Replaces the values with values in the packed order of a plan of the matrix, in which sample() of this
  /// plan, or of another plan with its format, writes its result.
  void refresh(const Values& values, const Plan& order, void* stream = nullptr) {
    refresh_as(values, order.get(), stream);
  }

 private:
  Matrix() = default;
  Matrix(std::span<const CsrMatrix> parts, sptile_arrangement arrangement, const MatrixOptions& options,
         void* stream) {
    std::vector<sptile_arrays> arrays;
    for (const CsrMatrix& part : parts) arrays.push_back(arrays_of_part(part, arrays.size()));
    const sptile_matrix_options c = detail::to_c(options);
    detail::check(sptile_matrix_create_batch(arrays.data(), std::ssize(arrays), arrangement, &c, stream,
                                             handle_.out()));
  }

  static sptile_arrays arrays_of(const CsrMatrix& a) {
    check_sizes(a);
    sptile_arrays arrays = SPTILE_ARRAYS_INIT;
    arrays.rows = a.rows;
    arrays.cols = a.cols;
    arrays.nnz = std::ssize(a.col_idx);
    arrays.row = a.row_ptr.data();
    arrays.col = a.col_idx.data();
    arrays.values = a.values.data;
    arrays.value_dtype = static_cast<std::int32_t>(a.values.type);
    arrays.device = static_cast<std::int32_t>(a.device);
    arrays.ordinal = a.ordinal;
    return arrays;
  }

  static sptile_arrays arrays_of_part(const CsrMatrix& a, std::size_t part) try {
    return arrays_of(a);
  } catch (const Exception& e) {
    throw Exception(e.status(), "matrix " + std::to_string(part) + " of the batch: " + e.what());
  }

  void refresh_as(const Values& values, const sptile_plan* order, void* stream) {
    const sptile_values c = {sizeof(sptile_values),
                             values.data,
                             static_cast<std::int64_t>(values.size),
                             order,
                             static_cast<std::int32_t>(values.type),
                             0};
    detail::check(sptile_matrix_refresh(handle_.get(), &c, stream));
  }

  /// Reads no elements, which may be in device memory.
  static void check_sizes(const CsrMatrix& a) {
    if (a.row_ptr.empty() || std::ssize(a.row_ptr) - 1 != a.rows)
      throw Exception(SPTILE_STATUS_USAGE, "row_ptr has " + std::to_string(a.row_ptr.size()) +
                                               " offsets; a matrix of " + std::to_string(a.rows) +
                                               " rows requires rows + 1");
    if (a.device == Device::cpu && a.row_ptr.back() != std::ssize(a.col_idx))
      throw Exception(SPTILE_STATUS_USAGE, "row_ptr ends with " + std::to_string(a.row_ptr.back()) +
                                               ", col_idx has " + std::to_string(a.col_idx.size()) +
                                               " elements");
    if (a.values.type != Type::none && a.values.size != a.col_idx.size())
      throw Exception(SPTILE_STATUS_USAGE, "there are " + std::to_string(a.values.size) + " values for " +
                                               std::to_string(a.col_idx.size()) + " columns in col_idx");
  }

  detail::Owner<sptile_matrix, sptile_matrix_destroy> handle_;
};

}  // namespace v1
}  // namespace sptile

#endif
