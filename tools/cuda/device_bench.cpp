#include "tools/cuda/device_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "formats/csr.hpp"
#include "formats/no_value_type.hpp"
#include "runtime/cuda/backend.hpp"
#include "runtime/cuda/device/check.hpp"
#include "runtime/cuda/device/device_buffer.hpp"
#include "runtime/cuda/device/plan.hpp"
#include "runtime/cuda/device/upload.hpp"
#include "runtime/cuda/papers/libra_streams/schedule.hpp"
#include "runtime/kernels/kernels.hpp"
#include "runtime/plan/choice.hpp"
#include "runtime/plan/product_plan.hpp"
#include "runtime/plan/sddmm.hpp"
#include "runtime/plan/spmm.hpp"
#include "tools/cuda/ceilings.hpp"
#include "tools/cuda/cusparse.hpp"
#include "tools/cuda/device_math.hpp"
#include "tools/cuda/launch_timer.hpp"
#include "tools/devices.hpp"
#include "tools/input.hpp"
#include "tools/stopwatch.hpp"

namespace sptile::tools {
namespace {

using runtime::cuda::check;
using runtime::cuda::DeviceBuffer;

// Overwritten to flush the L2 cache: at least this, and 4 times the cache.
constexpr std::size_t kFlushBytes = std::size_t{192} << 20;

Status check_code(int code, const char* what) { return check(static_cast<cudaError_t>(code), what); }

Status allocate(DeviceBuffer& to, std::size_t bytes, const char* what) {
  to = DeviceBuffer();  // the old one goes first
  auto made = DeviceBuffer::allocate(std::max<std::size_t>(bytes, 1), what);
  if (!made) return tl::unexpected(made.error());
  to = std::move(*made);
  return {};
}

template <class T>
std::size_t bytes_of(std::span<const T> items) {
  return items.size() * sizeof(T);
}

// How cuSPARSE multiplies: in f32, or in f64.
runtime::Precision cusparse_precision(DType dense) {
  switch (dense) {
    case DType::f64:
      return runtime::Precision::fp64;
    case DType::f16:
      return runtime::Precision::fp16;
    case DType::bf16:
      return runtime::Precision::bf16;
    case DType::f32:
      return runtime::Precision::fp32;
    default:
      no_value_type(dense);
  }
}

class CudaBench final : public DeviceBench {
 public:
  CudaBench(const DeviceBenchOptions& options, runtime::cuda::DeviceInfo device, const Ceilings& ceilings,
            cuda::LaunchTimer timer)
      : options_(options), device_(std::move(device)), ceilings_(ceilings), timer_(std::move(timer)) {}

  [[nodiscard]] std::string device() const override {
    return fmt::format("{}, compute capability {}.{}", device_.name, device_.capability / 10,
                       device_.capability % 10);
  }
  [[nodiscard]] const Ceilings& ceilings() const override { return ceilings_; }

  Status set_matrix(const formats::CsrView& source, DType dense) override;
  Status set_operands(std::string_view op, std::int64_t n) override;
  Result<DeviceMeasurement> measure(const runtime::PlanMatrix& a, const ProductRequest& request) override;
  Result<DeviceMeasurement> measure_cusparse(std::string_view kernel) override;

 private:
  [[nodiscard]] bool samples() const { return op_ == "sddmm"; }
  [[nodiscard]] std::int64_t result_size() const { return samples() ? csr_.nnz : csr_.rows * n_; }
  Status make_reference();
  Status set_value_source(const ArrayView& source);
  Status run(const runtime::ProductPlan& plan);
  Status check_and_time(const cuda::Launch& launch, runtime::Precision precision, DeviceMeasurement& m);

  DeviceBenchOptions options_;
  runtime::cuda::DeviceInfo device_;
  Ceilings ceilings_;
  cuda::LaunchTimer timer_;
  cuda::DeviceCsr csr_;
  DType values_ = DType::none;  // of the source
  std::string op_;
  std::int64_t n_ = 0;
  DeviceBuffer row_ptr_, columns_, dense_values_;
  DeviceBuffer x_;       // X; empty for SpMM
  DeviceBuffer b_;       // B, or Y
  DeviceBuffer result_;  // C, or a number for each entry
  DeviceBuffer sums_, absolute_sums_;
  DeviceBuffer value_source_;  // empty: the result is in CSR order
};

Status CudaBench::set_matrix(const formats::CsrView& source, DType dense) {
  if (source.nnz() > INT32_MAX)
    return fail(Errc::unsupported, "the reference on the device takes less than 2^31 entries");
  const std::vector<std::int32_t> offsets(source.row_ptr.begin(), source.row_ptr.end());
  formats::Array converted;
  ArrayView values = source.values;
  if (source.is_pattern()) {
    formats::Buffer<float> ones(source.nnz());
    std::fill(ones.begin(), ones.end(), 1.0F);
    converted = formats::Array(std::move(ones));
    values = converted.view();
  }
  if (values.dtype != dense) {
    converted = formats::convert_values(values, dense);
    values = converted.view();
  }
  Status s = allocate(row_ptr_, offsets.size() * 4, "row pointers");
  if (s) s = allocate(columns_, bytes_of(source.col_idx), "columns");
  if (s) s = allocate(dense_values_, static_cast<std::size_t>(values.bytes()), "values");
  runtime::cuda::Uploader uploader;
  if (s) s = uploader.copy(row_ptr_.data(), offsets.data(), offsets.size() * 4);
  if (s) s = uploader.copy(columns_.data(), source.col_idx.data(), bytes_of(source.col_idx));
  if (s) s = uploader.copy(dense_values_.data(), values.data, static_cast<std::size_t>(values.bytes()));
  if (s) s = uploader.finish();
  csr_ = {source.rows,
          source.cols,
          source.nnz(),
          reinterpret_cast<const std::int32_t*>(row_ptr_.data()),
          reinterpret_cast<const std::int32_t*>(columns_.data()),
          dense_values_.data(),
          dense};
  values_ = source.values.dtype;
  n_ = 0;
  return s;
}

Status CudaBench::set_operands(std::string_view op, std::int64_t n) {
  if (n == n_ && op == op_) return {};
  n_ = 0;
  std::int64_t elements = 0;
  if (__builtin_mul_overflow(std::max(csr_.rows, csr_.cols), 8 * n, &elements))
    return fail(Errc::usage, fmt::format("-n {} makes {} larger than any memory", n, dense_names(op)));
  for (DeviceBuffer* buffer : {&x_, &b_, &result_, &sums_, &absolute_sums_}) *buffer = DeviceBuffer();
  op_ = op;
  n_ = n;
  const std::size_t element = size_of(csr_.dtype);
  const std::int64_t x_size = samples() ? csr_.rows * n : 0, b_size = csr_.cols * n;
  Status s = allocate(x_, static_cast<std::size_t>(x_size) * element, "X");
  if (s) s = allocate(b_, static_cast<std::size_t>(b_size) * element, "B");
  if (s) s = allocate(result_, static_cast<std::size_t>(result_size()) * element, "the result");
  if (s) s = check_code(cuda::fill_uniform(b_.data(), csr_.dtype, b_size, -1, 1, options_.seed), "filling B");
  if (s && x_size > 0)
    s = check_code(cuda::fill_uniform(x_.data(), csr_.dtype, x_size, -1, 1, options_.seed + 1), "filling X");
  if (s && options_.check) s = make_reference();
  if (!s) n_ = 0;
  return s;
}

Status CudaBench::make_reference() {
  const auto size = static_cast<std::size_t>(result_size());
  Status s = allocate(sums_, size * sizeof(double), "the reference");
  if (s) s = allocate(absolute_sums_, size * sizeof(float), "the reference");
  if (!s) return s;
  auto* const sums = reinterpret_cast<double*>(sums_.data());
  auto* const absolute_sums = reinterpret_cast<float*>(absolute_sums_.data());
  return check_code(samples() ? cuda::reference_sddmm(csr_, x_.data(), b_.data(), sums, absolute_sums, n_)
                              : cuda::reference_spmm(csr_, b_.data(), sums, absolute_sums, n_),
                    "computing the reference");
}

Status CudaBench::set_value_source(const ArrayView& source) {
  value_source_ = DeviceBuffer();
  if (!options_.check || !samples() || !source.present()) return {};
  const auto bytes = static_cast<std::size_t>(source.bytes());
  Status s = allocate(value_source_, bytes, "the order of the result");
  runtime::cuda::Uploader uploader;
  if (s) s = uploader.copy(value_source_.data(), source.data, bytes);
  return s ? uploader.finish() : s;
}

Status CudaBench::run(const runtime::ProductPlan& plan) {
  if (samples())
    return runtime::run(
        plan,
        runtime::SddmmOperands{.x = x_.data(), .ldx = n_, .y = b_.data(), .ldy = n_, .out = result_.data()});
  return runtime::run(plan, runtime::SpmmOperands{.b = b_.data(), .ldb = n_, .c = result_.data(), .ldc = n_});
}

Status CudaBench::check_and_time(const cuda::Launch& launch, runtime::Precision precision,
                                 DeviceMeasurement& m) {
  m.product.device = "cuda";
  m.product.op = op_;
  m.product.value_dtype = dtype_label(values_);
  m.product.dtype = name_of(csr_.dtype);
  m.product.precision = name_of(precision);
  m.product.n = n_;
  if (options_.check) {
    Status s = check(cudaMemset(result_.data(), 0xFF, result_.size()), "filling the result with NaN");
    if (s) s = launch();
    cuda::Errors errors;
    if (s)
      s = check_code(cuda::measure_errors(
                         result_.data(), csr_.dtype, reinterpret_cast<const double*>(sums_.data()),
                         reinterpret_cast<const float*>(absolute_sums_.data()),
                         reinterpret_cast<const std::int64_t*>(value_source_.data()), result_size(), errors),
                     "running a kernel");
    if (!s) return s;
    m.product.checked = true;
    m.product.tolerance = rounding_bound(csr_.dtype, precision, m.product.kernel);
    m.product.rel_err = errors.relative;
    m.frobenius = errors.frobenius;
  }
  auto seconds = timer_.time(launch, m.product.repeat);
  if (!seconds) return tl::unexpected(seconds.error());
  set_times(m.product, summarise(std::move(*seconds)), csr_.nnz);
  return {};
}

Result<DeviceMeasurement> CudaBench::measure(const runtime::PlanMatrix& a, const ProductRequest& request) {
  runtime::PlanOptions options;
  options.n = n_;
  options.dense = csr_.dtype;
  options.device = runtime::Device::cuda;
  options.kernel = request.kernel;
  options.trusted = true;
  if (csr_.dtype == DType::f32) options.precision = wanted_precision(request);
  const auto make_plan = [&] {
    return samples() ? runtime::plan_sddmm(a, options) : runtime::plan_spmm(a, options);
  };
  auto plan = make_plan();
  if (!plan) return tl::unexpected(plan.error());
  const runtime::Precision precision = runtime::precision_of(**plan);
  if (!request.precision.empty() && request.precision != name_of(precision))
    return fail(Errc::unsupported, fmt::format("{} forms {} products, not {}", runtime::kernel_name(**plan),
                                               name_of(precision), request.precision));
  DeviceMeasurement m;
  if (options_.time_planning) {
    plan->reset();
    const Stopwatch watch;
    plan = make_plan();
    if (!plan) return tl::unexpected(plan.error());
    m.product.plan_us = 1e6 * watch.seconds();
  }
  m.product.format = a.format.layout->name;
  m.product.kernel = runtime::kernel_name(**plan);
  m.occupancy = runtime::cuda::ratios_of((*plan)->on_device->schedule);
  m.pinned_us = 1e6 * static_cast<double>(formats::index_bytes(a.format) + formats::value_bytes(a.format)) /
                ceilings_.pinned;
  if (options_.predict) {
    const auto predicted = runtime::predict_plan(**plan, a, options);
    if (!predicted) return tl::unexpected(predicted.error());
    m.product.predicted_us = *predicted;
  }
  if (Status s = set_value_source(a.value_source); !s) return tl::unexpected(s.error());
  const Status s = check_and_time([&] { return run(**plan); }, precision, m);
  if (!s) return tl::unexpected(s.error());
  return m;
}

Result<DeviceMeasurement> CudaBench::measure_cusparse(std::string_view kernel) {
  const Stopwatch watch;
  auto launch = samples() ? cuda::prepare_cusparse_sddmm(csr_, x_.data(), b_.data(), result_.data(), n_)
                          : cuda::prepare_cusparse(kernel, csr_, b_.data(), result_.data(), n_);
  if (!launch) return tl::unexpected(launch.error());
  value_source_ = DeviceBuffer();
  DeviceMeasurement m;
  m.product.plan_us = 1e6 * watch.seconds();
  m.product.format = "csr";
  m.product.kernel = kernel;
  if (Status s = check_and_time(*launch, cusparse_precision(csr_.dtype), m); !s)
    return tl::unexpected(s.error());
  return m;
}

}  // namespace

Result<std::unique_ptr<DeviceBench>> open_device_bench(const DeviceBenchOptions& options) {
  auto device = runtime::cuda::find_device(0);
  if (!device) return tl::unexpected(device.error());
  if (Status s = check(cudaSetDevice(0), "choosing the device"); !s) return tl::unexpected(s.error());
  const auto ceilings = cuda::measure_ceilings(*device);
  if (!ceilings) return tl::unexpected(ceilings.error());
  auto timer = cuda::LaunchTimer::make(options.flush_l2 ? std::max(kFlushBytes, 4 * device->l2_bytes) : 0);
  if (!timer) return tl::unexpected(timer.error());
  return std::make_unique<CudaBench>(options, std::move(*device), *ceilings, std::move(*timer));
}

std::span<const std::string_view> cusparse_yardsticks(std::string_view op) {
  return cuda::cusparse_found() ? cuda::cusparse_kernels(op) : std::span<const std::string_view>();
}

}  // namespace sptile::tools
