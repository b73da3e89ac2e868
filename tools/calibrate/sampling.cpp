#include "tools/calibrate/sampling.hpp"

#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "formats/convert/converters.hpp"
#include "formats/convert/packed_positions.hpp"
#include "formats/core/csr.hpp"
#include "runtime/choice/prediction.hpp"
#include "tools/calibrate/libra_sampling.hpp"
#include "tools/measure/operations.hpp"

namespace sptile::tools {
namespace {

using runtime::Precision;

constexpr std::int64_t kMaxElements = 100'000'000;  // elements of B or C, which then exceed all caches
// larger matrices take too long to split with all thresholds
constexpr std::int64_t kMaxSplitEntries = 5'000'000;

// Parameters of a product except the matrix.
struct Product {
  const runtime::Operation* op;
  std::int64_t n;
  DType dense;
};

// A matrix in a format.
struct Converted {
  formats::FormatData data;
  formats::Array entries;  // list position of each entry, for results that are lists

  [[nodiscard]] runtime::PlanMatrix matrix() const { return {data.view(), {}, entries.view(), nullptr}; }
};

// Returns whether kernels of the format are measured.
bool has_kernels(const SamplingPlan& plan, std::string_view format) {
  return plan.kernels.empty() || std::ranges::any_of(runtime::kernels(), [&](const runtime::Kernel& kernel) {
           return kernel.format == format && plan.names(kernel.name);
         });
}

// Returns whether both have the same structure and differ only in values.
bool same_places(const formats::FormatView& a, const formats::FormatView& b) {
  for (std::size_t i = 0; i < a.layout->arrays.size(); ++i) {
    const ArrayView &x = a.arrays[i], &y = b.arrays[i];
    if (a.layout->arrays[i].holds_values
            ? x.size != y.size
            : x.bytes() != y.bytes() ||
                  (x.size > 0 && std::memcmp(x.data, y.data, static_cast<std::size_t>(x.bytes())) != 0))
      return false;
  }
  return true;
}

class Sampler {
 public:
  Sampler(Session& session, const std::string& name, const SamplingPlan& plan, Measurements& found)
      : session_(session), name_(name), plan_(plan), found_(found), libra_(plan) {}

  // Measures all products with one value type.
  Status run(const formats::CsrView& a, DType dense);

 private:
  Status convert(const formats::CsrView& a);
  /// Returns the values of N; layers use the same number of columns on both sides.
  [[nodiscard]] std::vector<std::int64_t> columns_for(const runtime::Operation& op) const;
  Status run_product(const Product& product);
  Status run_candidates(const Product& product, std::string_view kernel, std::optional<Precision> precision);
  Status run_one(const Product& product, const runtime::Candidate& candidate, bool exact);
  [[nodiscard]] bool is_known(const Product& product, const runtime::Candidate& candidate) const;

  Session& session_;
  const std::string& name_;
  const SamplingPlan& plan_;
  Measurements& found_;
  std::vector<Converted> converted_;
  std::vector<runtime::PlanMatrix> matrices_;
  LibraSampler libra_;
};

bool Sampler::is_known(const Product& product, const runtime::Candidate& candidate) const {
  return std::any_of(found_.samples.begin(), found_.samples.end(), [&](const Sample& s) {
    return s.matrix == name_ && s.op == product.op->name && s.n == product.n &&
           s.kernel == candidate.kernel->name && s.precision == name_of(candidate.precision);
  });
}

Status Sampler::run_one(const Product& product, const runtime::Candidate& candidate, bool exact) {
  const auto m =
      plan_.bench->measure(matrices_[candidate.matrix], {candidate.kernel->name, candidate.precision});
  if (!m) return tl::unexpected(m.error());
  if (Status s = check_outcome(*m); !s) return fail(s.error().code, s.error().message, name_);
  // Exact f32 products are separate cases, because they have other candidates.
  found_.samples.push_back({name_, std::string(product.op->name),
                            std::string(name_of(product.dense)) + (exact ? " exact" : ""),
                            std::string(candidate.format), std::string(candidate.kernel->name),
                            std::string(name_of(candidate.precision)), product.n, candidate.features,
                            std::max(m->median_us, 0.01)});
  session_.detail(
      fmt::format("{} N={} {} {}: {:.1f} us", name_, product.n, m->kernel, m->precision, m->median_us));
  return {};
}

Status Sampler::run_candidates(const Product& product, std::string_view kernel,
                               std::optional<Precision> precision) {
  runtime::PlanOptions options;
  options.n = product.n;
  options.dense = product.dense;
  options.device = plan_.bench->kind();
  options.kernel = kernel;
  options.threads = session_.common.threads;
  options.precision = precision;
  const auto candidates =
      runtime::predict_product(*product.op, matrices_, options, runtime::Detail::features);
  if (!candidates) return tl::unexpected(candidates.error());
  for (const runtime::Candidate& candidate : *candidates) {
    if (!candidate.refused.empty() || is_known(product, candidate)) continue;
    if (Status s = run_one(product, candidate, precision.has_value()); !s) return s;
  }
  return {};
}

Status Sampler::run_product(const Product& product) {
  if (Status s = plan_.bench->set_operands(*product.op, product.n); !s) return s;
  const bool again = plan_.bench->kind() == runtime::Device::cuda && product.dense == DType::f32;
  std::vector<std::string> kernels = plan_.kernels;
  if (kernels.empty()) kernels.emplace_back();  // empty: the kernels that plans choose from
  for (const std::string& kernel : kernels) {
    if (Status s = run_candidates(product, kernel, std::nullopt); !s) return s;
    if (!again) continue;
    if (Status s = run_candidates(product, kernel, Precision::fp32); !s) return s;
  }
  return libra_.measure(name_, *product.op, product.n, found_);
}

Status Sampler::convert(const formats::CsrView& a) {
  matrices_.clear();
  std::vector<Converted> before = std::move(converted_);  // with values of another type
  converted_.clear();
  const bool lists = std::any_of(plan_.operations.begin(), plan_.operations.end(),
                                 [](const runtime::Operation* op) { return has_entry_lists(*op); });
  for (const formats::Converter& converter : formats::converters()) {
    if (!has_kernels(plan_, converter.format)) continue;
    auto data = converter.from_csr(a, nullptr);
    if (!data) return tl::unexpected(data.error());
    Converted& converted = converted_.emplace_back(Converted{std::move(*data), {}});
    if (!lists || converter.format == "csr") continue;
    const std::size_t i = converted_.size() - 1;
    if (i < before.size() && same_places(before[i].data.view(), converted.data.view())) {
      converted.entries = std::move(before[i].entries);
      continue;
    }
    auto entries = formats::packed_entries(converted.data.view(), {});
    if (!entries) return tl::unexpected(entries.error());
    converted.entries = std::move(*entries);
  }
  for (const Converted& c : converted_) matrices_.push_back(c.matrix());
  libra_.forget();
  return plan_.thresholds && a.nnz() <= kMaxSplitEntries ? libra_.set_matrix(a) : Status{};
}

std::vector<std::int64_t> Sampler::columns_for(const runtime::Operation& op) const {
  const bool weighted = std::ranges::any_of(
      op.operands, [](const runtime::OperandSpec& spec) { return spec.extent == runtime::Extent::inner; });
  return weighted ? std::vector<std::int64_t>{32, 64, 128} : plan_.columns;
}

Status Sampler::run(const formats::CsrView& a, DType dense) {
  if (Status s = convert(a); !s) return s;
  if (Status s = plan_.bench->set_matrix(a, dense); !s) return s;
  for (const runtime::Operation* op : plan_.operations)
    for (const std::int64_t n : columns_for(*op)) {
      if (std::max(a.rows, a.cols) * n > kMaxElements || a.nnz() > plan_.max_multiplications / n) continue;
      if (Status s = run_product({op, n, dense}); !s) return s;
    }
  return {};
}

}  // namespace

Status sample_matrix(Session& session, const std::string& name, const formats::CsrView& a,
                     const SamplingPlan& plan, Measurements& found) {
  Sampler sampler(session, name, plan, found);
  Status s = sampler.run(a, DType::f32);
  for (const DType type : plan.more) {
    if (!s) break;
    formats::CsrView same = a;
    const formats::Array values = formats::convert_values(a.values, type);
    same.values = values.view();
    s = sampler.run(same, type);
  }
  return s;
}

}  // namespace sptile::tools
