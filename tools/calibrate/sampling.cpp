#include "tools/calibrate/sampling.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "formats/convert/converters.hpp"
#include "formats/convert/libra_sddmm.hpp"
#include "formats/convert/libra_spmm.hpp"
#include "formats/convert/packed_positions.hpp"
#include "formats/csr.hpp"
#include "runtime/choice/choice.hpp"
#include "runtime/reference/spmm.hpp"
#include "tools/devices.hpp"
#include "tools/measure.hpp"
#include "tools/random_operands.hpp"

namespace sptile::tools {
namespace {

using runtime::Precision;

constexpr std::int64_t kMostElements = 100'000'000;  // of B or C: far more than any cache
constexpr double kSlow = 0.05;                       // seconds that the runs on a CPU may take
constexpr std::int64_t kCheckedRows = 64;            // neighbours that are checked together
constexpr std::int64_t kCheckedProducts = std::int64_t{1} << 26;

// B and C for one N and type; on the CPU only.
struct Operands {
  std::int64_t n;
  DType dense;
  formats::Array b, c;
};

// A format with a threshold, and the values of it that are measured.
struct SplitFormat {
  std::string_view op;
  Result<formats::FormatData> (*from_csr)(const formats::CsrView& a, int threshold, Progress* progress);
  std::span<const int> thresholds;
};
constexpr int kSpmmThresholds[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
constexpr int kSddmmThresholds[] = {1, 8, 16, 24, 32, 48, 64, 129};
constexpr SplitFormat kSplitFormats[] = {{"spmm", formats::libra_spmm_from_csr_at, kSpmmThresholds},
                                         {"sddmm", formats::libra_sddmm_from_csr_at, kSddmmThresholds}};

// A matrix in such a format.
struct Split {
  std::string_view op;
  int threshold;
  formats::FormatData data;
  formats::Array value_source;
};

// The reference on blocks of neighbouring rows at even distances.
double sampled_error(const formats::CsrView& a, const Operands& operands) {
  const std::int64_t blocks = (a.rows + kCheckedRows - 1) / kCheckedRows;
  const std::int64_t step = std::max<std::int64_t>(a.nnz() * operands.n / kCheckedProducts, 1);
  std::atomic<double> worst = 0;
  tbb::parallel_for(std::int64_t{0}, (blocks + step - 1) / step, [&](std::int64_t i) {
    const std::int64_t row = i * step * kCheckedRows;
    formats::CsrView part = a;
    part.rows = std::min(kCheckedRows, a.rows - row);
    part.row_ptr = a.row_ptr.subspan(static_cast<std::size_t>(row), static_cast<std::size_t>(part.rows) + 1);
    const auto* c = static_cast<const std::byte*>(operands.c.data()) +
                    static_cast<std::size_t>(row * operands.n) * size_of(operands.dense);
    // The reference only reads C here.
    const runtime::SpmmOperands computed = {
        .b = operands.b.data(), .ldb = operands.n, .c = const_cast<std::byte*>(c), .ldc = operands.n};
    const double error = runtime::relative_error(part, operands.n, operands.dense, computed);
    double known = worst;
    while (!(error <= known) && !worst.compare_exchange_weak(known, error)) {
    }
  });
  return worst;
}

class Sampler {
 public:
  Sampler(Session& session, const std::string& name, const SamplingPlan& plan, Measurements& found)
      : session_(session), name_(name), plan_(plan), found_(found), samples_(found.samples) {}

  // Everything for one type of values.
  Status run(const formats::CsrView& a, DType dense);

 private:
  Status run_columns(const formats::CsrView& a, Operands& operands);
  Status run_candidates(const formats::CsrView& a, Operands& operands, std::optional<Precision> precision);
  Status convert_splits(const formats::CsrView& a);
  Status run_thresholds(std::string_view op, std::int64_t n);
  Status run_one(const formats::CsrView& a, Operands& operands, const runtime::Candidate& candidate,
                 const runtime::PlanOptions& options);
  [[nodiscard]] bool is_known(const runtime::Candidate& candidate, const Operands& operands) const;
  [[nodiscard]] runtime::Device device() const {
    return plan_.bench != nullptr ? runtime::Device::cuda : runtime::Device::cpu;
  }
  Result<double> seconds_on_device(const runtime::Candidate& candidate);
  Result<double> seconds_on_cpu(const formats::CsrView& a, Operands& operands,
                                const runtime::Candidate& candidate, const runtime::PlanOptions& options);

  Session& session_;
  const std::string& name_;
  const SamplingPlan& plan_;
  Measurements& found_;
  std::vector<Sample>& samples_;
  std::vector<formats::FormatData> converted_;
  std::vector<Split> splits_;  // if thresholds are asked for
  std::vector<runtime::PlanMatrix> matrices_;
};

bool Sampler::is_known(const runtime::Candidate& candidate, const Operands& operands) const {
  return std::any_of(samples_.begin(), samples_.end(), [&](const Sample& s) {
    return s.matrix == name_ && s.n == operands.n && s.kernel == candidate.kernel->name &&
           s.precision == name_of(candidate.precision);
  });
}

Result<double> Sampler::seconds_on_device(const runtime::Candidate& candidate) {
  ProductRequest request;
  request.device = "cuda";
  request.kernel = candidate.kernel->name;
  request.precision = name_of(candidate.precision);
  const auto measured = plan_.bench->measure(matrices_[candidate.matrix], request);
  if (!measured) return tl::unexpected(measured.error());
  if (Status s = check_outcome(measured->product); !s) return tl::unexpected(s.error());
  return measured->product.median_us * 1e-6;
}

// Others use the CPU, too: the least of some runs; slow ones are repeated less.
Result<double> Sampler::seconds_on_cpu(const formats::CsrView& a, Operands& operands,
                                       const runtime::Candidate& candidate,
                                       const runtime::PlanOptions& options) {
  runtime::PlanOptions one = options;
  one.kernel = candidate.kernel->name;
  one.trusted = true;
  const auto plan = runtime::plan_spmm(matrices_[candidate.matrix], one);
  if (!plan) return tl::unexpected(plan.error());
  std::fill_n(static_cast<std::byte*>(operands.c.data()), static_cast<std::size_t>(operands.c.view().bytes()),
              std::byte{0xFF});  // NaN
  const runtime::SpmmOperands pointers = {
      .b = operands.b.data(), .ldb = operands.n, .c = operands.c.data(), .ldc = operands.n};
  const auto first = runtime::timed_run(**plan, pointers, 1, 1);
  if (!first) return tl::unexpected(first.error());
  const int repeat = std::clamp(static_cast<int>(kSlow / first->front()), 3, 20);
  const auto all = runtime::timed_run(**plan, pointers, 3, repeat);
  if (!all) return tl::unexpected(all.error());
  const double error = sampled_error(a, operands);
  const double allowed = rounding_bound(operands.dense, candidate.precision, candidate.kernel->name);
  if (!(error <= allowed))
    return fail(Errc::check_failed, fmt::format("{} on {} with N = {}: relative error {:.3g} exceeds {:.3g}",
                                                candidate.kernel->name, name_, operands.n, error, allowed));
  return *std::min_element(all->begin(), all->end());
}

Status Sampler::run_one(const formats::CsrView& a, Operands& operands, const runtime::Candidate& candidate,
                        const runtime::PlanOptions& options) {
  const auto took =
      plan_.bench != nullptr ? seconds_on_device(candidate) : seconds_on_cpu(a, operands, candidate, options);
  if (!took) return tl::unexpected(took.error());
  // Products of f32 that satisfy different wishes are different questions.
  const bool exact = options.precision.has_value();
  samples_.push_back({name_, std::string(sptile::name_of(operands.dense)) + (exact ? " exact" : ""),
                      std::string(candidate.format), std::string(candidate.kernel->name),
                      std::string(name_of(candidate.precision)), operands.n, candidate.features,
                      std::max(*took * 1e6, 0.01)});
  session_.detail(fmt::format("{} N={} {} {}: {:.1f} us", name_, operands.n, candidate.kernel->name,
                              name_of(candidate.precision), *took * 1e6));
  return {};
}

Status Sampler::run_candidates(const formats::CsrView& a, Operands& operands,
                               std::optional<Precision> precision) {
  runtime::PlanOptions options;
  options.n = operands.n;
  options.dense = operands.dense;
  options.device = device();
  options.threads = session_.common.threads;
  options.precision = precision;
  const auto candidates = runtime::predict_spmm(matrices_, options, true);
  if (!candidates) return tl::unexpected(candidates.error());
  for (const runtime::Candidate& candidate : *candidates) {
    if (!candidate.refused.empty() || is_known(candidate, operands)) continue;
    if (Status s = run_one(a, operands, candidate, options); !s) return s;
  }
  return {};
}

Status Sampler::run_columns(const formats::CsrView& a, Operands& operands) {
  if (Status s = run_candidates(a, operands, std::nullopt); !s) return s;
  if (plan_.bench == nullptr || operands.dense != DType::f32) return {};
  return run_candidates(a, operands, Precision::fp32);
}

Status Sampler::convert_splits(const formats::CsrView& a) {
  splits_.clear();
  if (!plan_.thresholds) return {};
  for (const SplitFormat& format : kSplitFormats)
    for (const int threshold : format.thresholds) {
      auto data = format.from_csr(a, threshold, nullptr);
      if (!data) return tl::unexpected(data.error());
      const auto packed = formats::packed_positions(data->view(), {});
      if (!packed) return tl::unexpected(packed.error());
      splits_.push_back(
          {format.op, threshold, std::move(*data), formats::inverse_positions(packed->as<std::int64_t>())});
    }
  return {};
}

Status Sampler::run_thresholds(std::string_view op, std::int64_t n) {
  if (Status s = plan_.bench->set_operands(op, n); !s) return s;
  for (const Split& split : splits_) {
    if (split.op != op) continue;
    ProductRequest request;
    request.op = op;
    request.device = "cuda";
    const auto measured =
        plan_.bench->measure({split.data.view(), {}, split.value_source.view(), nullptr}, request);
    if (!measured) return tl::unexpected(measured.error());
    const ProductMeasurement& product = measured->product;
    if (Status s = check_outcome(product); !s) return s;
    found_.thresholds.push_back(
        {name_, product.kernel, product.precision, n, split.threshold, std::max(product.median_us, 0.01)});
  }
  return {};
}

Status Sampler::run(const formats::CsrView& a, DType dense) {
  if (Status s = convert_splits(a); !s) return s;
  converted_.clear();
  matrices_.clear();
  for (const formats::Converter& converter : formats::converters()) {
    auto data = converter.from_csr(a, nullptr);
    if (!data) return tl::unexpected(data.error());
    converted_.push_back(std::move(*data));
  }
  for (const formats::FormatData& data : converted_) matrices_.push_back({data.view(), {}, {}, nullptr});
  if (plan_.bench != nullptr)
    if (Status s = plan_.bench->set_matrix(a, dense); !s) return s;
  for (const std::int64_t n : plan_.columns) {
    if (std::max(a.rows, a.cols) * n > kMostElements) continue;
    Operands operands{n, dense, {}, {}};
    if (plan_.bench != nullptr) {
      if (Status s = plan_.bench->set_operands("spmm", n); !s) return s;
    } else {
      operands.b = random_dense(a.cols, n, dense, session_.common.seed);
      operands.c = formats::Array(dense, a.rows * n);
    }
    if (Status s = run_columns(a, operands); !s) return s;
    if (!plan_.thresholds) continue;
    for (const SplitFormat& format : kSplitFormats)
      if (Status s = run_thresholds(format.op, n); !s) return s;
  }
  return {};
}

}  // namespace

Status sample_matrix(Session& session, const std::string& name, const formats::CsrView& a,
                     const SamplingPlan& plan, Measurements& found) {
  Sampler sampler(session, name, plan, found);
  if (Status s = sampler.run(a, DType::f32); !s || !plan.half) return s;
  formats::CsrView half = a;
  const formats::Array values = formats::convert_values(a.values, DType::f16);
  half.values = values.view();
  return sampler.run(half, DType::f16);
}

}  // namespace sptile::tools
