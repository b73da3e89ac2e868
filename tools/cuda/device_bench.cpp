#include "tools/cuda/device_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "formats/core/no_value_type.hpp"
#include "runtime/cuda/backend.hpp"
#include "runtime/cuda/device/check.hpp"
#include "runtime/plan/choice.hpp"
#include "runtime/plan/product_plan.hpp"
#include "tools/cuda/ceilings.hpp"
#include "tools/cuda/cusparse.hpp"
#include "tools/cuda/device_product.hpp"
#include "tools/cuda/launch_timer.hpp"
#include "tools/measure/operations.hpp"
#include "tools/pipeline/devices.hpp"
#include "tools/pipeline/input.hpp"
#include "tools/pipeline/stopwatch.hpp"

namespace sptile::tools {
namespace {

// Minimum bytes written to flush L2; at least 4 times its size are written.
constexpr std::size_t kFlushBytes = std::size_t{192} << 20;

// Returns the precision of cuSPARSE's products: f32 or f64.
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

std::string describe_device(const runtime::cuda::DeviceInfo& device) {
  return fmt::format("{}, compute capability {}.{}", device.name, device.capability / 10,
                     device.capability % 10);
}

class DeviceBench final : public ProductBench {
 public:
  DeviceBench(Session& session, const DeviceBenchOptions& options) : session_(session), options_(options) {}

  [[nodiscard]] runtime::Device kind() const override { return runtime::Device::cuda; }
  Status set_matrix(const formats::CsrView& source, const runtime::DenseTypes& dense) override;
  Status set_operands(const runtime::Operation& op, std::int64_t n) override;
  Result<Measurement> measure(const runtime::PlanMatrix& a, const KernelRequest& request) override;
  [[nodiscard]] std::vector<std::string_view> yardsticks(const runtime::Operation& op,
                                                         std::int64_t n) const override {
    return cuda::cusparse_kernels(op, n);
  }
  Result<Measurement> measure_yardstick(std::string_view kernel) override;
  [[nodiscard]] std::optional<DeviceFacts> facts() const override { return facts_; }

 private:
  Status open();
  [[nodiscard]] runtime::PlanOptions plan_options(const KernelRequest& request) const;
  Result<Planned> plan_once(const runtime::PlanMatrix& a, const KernelRequest& request) const;
  Result<Planned> plan(const runtime::PlanMatrix& a, const KernelRequest& request) const;
  Status check_result(const cuda::Launch& launch, const runtime::PlanMatrix* a, Measurement& m,
                      MemoryUse& use);
  Status check_and_time(const cuda::Launch& launch, const runtime::PlanMatrix* a, MemoryUse use,
                        Measurement& m);
  [[nodiscard]] std::int64_t compulsory() const;

  Session& session_;
  DeviceBenchOptions options_;
  std::optional<DeviceFacts> facts_;  // set while the device is open
  std::optional<cuda::LaunchTimer> timer_;
  formats::CsrView source_;
  cuda::DeviceProduct product_;
};

Status DeviceBench::open() {
  auto device = runtime::cuda::find_device(0);
  if (!device) return tl::unexpected(device.error());
  if (Status s = runtime::cuda::check(cudaSetDevice(0), "selecting the device"); !s) return s;
  const auto ceilings = cuda::measure_ceilings(*device);
  if (!ceilings) return tl::unexpected(ceilings.error());
  auto timer = cuda::LaunchTimer::make(
      {.flush_bytes = options_.flush_l2 ? std::max(kFlushBytes, 4 * device->l2_bytes) : 0,
       .graph = options_.graph});
  if (!timer) return tl::unexpected(timer.error());
  timer_.emplace(std::move(*timer));
  facts_ = DeviceFacts{describe_device(*device), *ceilings};
  return {};
}

Status DeviceBench::set_matrix(const formats::CsrView& source, const runtime::DenseTypes& dense) {
  if (!facts_)
    if (Status s = open(); !s) return s;
  source_ = source;
  return product_.set_matrix(source, dense);
}

Status DeviceBench::set_operands(const runtime::Operation& op, std::int64_t n) {
  if (product_.has(op, n)) return {};
  if (Status s = check_operands_fit(op, source_, n); !s) return s;
  begin(&session_.progress, "reference", 0);
  return product_.set_operands(op, n, {session_.seed, options_.check, options_.attributes});
}

// Bytes that every kernel transfers: CSR with 32-bit offsets, and each operand one time.
std::int64_t DeviceBench::compulsory() const {
  const runtime::Operation& op = product_.op();
  const bool reads_values = op.uses_values && !source_.is_pattern();
  const std::int64_t entry =
      4 + (reads_values ? static_cast<std::int64_t>(size_of(source_.values.dtype)) : 0);
  std::int64_t bytes = source_.nnz() * entry + (source_.rows + 1) * 4;
  for (const runtime::OperandSpec& spec : op.operands)
    if (!is_left_out(spec))
      bytes += product_.size_of_operand(spec) *
               static_cast<std::int64_t>(size_of(type_of(spec, product_.types())));
  return bytes;
}

Status DeviceBench::check_result(const cuda::Launch& launch, const runtime::PlanMatrix* a, Measurement& m,
                                 MemoryUse& use) {
  if (Status s = product_.clear_results(); !s) return s;
  if (Status s = launch(nullptr); !s) return s;
  const auto errors = product_.compare(a);
  if (!errors) return tl::unexpected(errors.error());
  m.checked = true;
  m.rel_err = errors->relative;
  if (!std::isnan(errors->frobenius)) use.frobenius = errors->frobenius;
  return {};
}

// `a`: the planned matrix; nullptr for a kernel of another library on CSR.
Status DeviceBench::check_and_time(const cuda::Launch& launch, const runtime::PlanMatrix* a, MemoryUse use,
                                   Measurement& m) {
  if (options_.check)
    if (Status s = check_result(launch, a, m, use); !s) return s;
  begin(&session_.progress, "run", 0);
  auto seconds = timer_->time(launch, m.repeat);
  if (!seconds) return tl::unexpected(seconds.error());
  const std::int64_t heads = options_.attributes.plan.variant.heads;
  set_times(m, summarise(std::move(*seconds)), source_.nnz() * heads);
  const std::int64_t gathered = heads * (a != nullptr ? gathered_rows(a->format) : source_.nnz());
  use.compulsory = compulsory();
  use.gathered = gathered * m.n * static_cast<std::int64_t>(size_of(product_.csr().dtype));
  use.roofline = roofline(use.compulsory, use.gathered, facts_->ceilings, m.median_us * 1e-6);
  m.memory = use;
  return {};
}

runtime::PlanOptions DeviceBench::plan_options(const KernelRequest& request) const {
  runtime::PlanOptions options = options_.attributes.plan;
  options.n = product_.n();
  options.dense = product_.types().operands;
  options.result = product_.types().result;
  options.device = kind();
  options.kernel = request.kernel;
  options.trusted = true;
  options.precision = request.precision;
  options.undefined_result = !options_.check;
  return options;
}

Result<Planned> DeviceBench::plan_once(const runtime::PlanMatrix& a, const KernelRequest& request) const {
  const Stopwatch watch;
  auto plan = runtime::plan_product(product_.op(), a, plan_options(request));
  if (!plan) return tl::unexpected(plan.error());
  return Planned{std::move(*plan), watch.seconds()};
}

// Errc::unsupported if the products have another precision than requested.
Result<Planned> DeviceBench::plan(const runtime::PlanMatrix& a, const KernelRequest& request) const {
  auto planned = plan_once(a, request);
  if (!planned) return planned;
  const runtime::Precision precision = runtime::precision_of(*planned->plan);
  if (request.precision && *request.precision != precision)
    return fail(Errc::unsupported, fmt::format("{} supports {}, not {}", runtime::kernel_name(*planned->plan),
                                               name_of(precision), name_of(*request.precision)));
  if (!options_.time_planning) return planned;
  planned->plan.reset();
  return plan_once(a, request);
}

Result<Measurement> DeviceBench::measure(const runtime::PlanMatrix& a, const KernelRequest& request) {
  const auto planned = plan(a, request);
  if (!planned) return tl::unexpected(planned.error());
  Measurement m = describe(*planned, a.format);
  m.attributes = attributes_text(options_.attributes);
  if (options_.predict) {
    const auto predicted = runtime::predict_plan(*m.plan, a, plan_options(request));
    if (!predicted) return tl::unexpected(predicted.error());
    m.predicted_us = *predicted;
  }
  const bool sorted = options_.check && has_entry_lists(product_.op());
  if (Status s = product_.set_value_source(sorted ? a.value_source : ArrayView{}); !s)
    return tl::unexpected(s.error());
  MemoryUse use;
  use.pinned_us = 1e6 * static_cast<double>(formats::index_bytes(a.format) + formats::value_bytes(a.format)) /
                  facts_->ceilings.pinned;
  const auto launch = [&](cudaStream_t stream) {
    return runtime::run(*m.plan, product_.op(), product_.operands(), stream);
  };
  if (Status s = check_and_time(launch, &a, use, m); !s) return tl::unexpected(s.error());
  return m;
}

Result<Measurement> DeviceBench::measure_yardstick(std::string_view kernel) {
  const Stopwatch watch;
  auto launch = cuda::prepare_cusparse(kernel, product_.csr(), product_.operands(), product_.n());
  if (!launch) return tl::unexpected(launch.error());
  if (Status s = product_.set_value_source({}); !s) return tl::unexpected(s.error());
  const DType dense = product_.csr().dtype;
  const runtime::Precision precision = cusparse_precision(dense);
  Measurement m;
  m.plan_us = 1e6 * watch.seconds();
  m.op = &product_.op();
  m.device = name_of(kind());
  m.format = "csr";
  m.kernel = kernel;
  m.value_dtype = dtype_label(source_.values.dtype);
  m.dtype = name_of(dense);
  m.result = name_of(product_.types().result);
  m.precision = name_of(precision);
  m.n = product_.n();
  m.tolerance = rounding_bound(product_.types(), precision, kernel);
  if (Status s = check_and_time(*launch, nullptr, {}, m); !s) return tl::unexpected(s.error());
  return m;
}

}  // namespace

Result<std::unique_ptr<ProductBench>> make_device_bench(Session& session, const DeviceBenchOptions& options) {
  return std::make_unique<DeviceBench>(session, options);
}

}  // namespace sptile::tools
