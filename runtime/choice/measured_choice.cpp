#include "runtime/choice/measured_choice.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <new>

#include "runtime/plan/product_plan.hpp"
#include "runtime/reference/element.hpp"
#include "runtime/plan/sddmm.hpp"

namespace sptile::runtime {
namespace {

/// Up to three operands of a product, one after the other in the same memory.
constexpr std::size_t kMostParts = 3;
constexpr std::int64_t kAlignment = 256;
/// Numbers of elements: rows times columns.
struct Shape {
  std::int64_t rows = 0, columns = 0;
};
using Shapes = std::array<Shape, kMostParts>;
using Parts = std::array<std::byte*, kMostParts>;

/// How often a product is run.
struct Repeats {
  int groups = 1, runs = 1;
};

template <class Operands>
Result<std::vector<double>> time_runs(const ProductPlan& plan, const Operands& operands,
                                      const Repeats& repeats) {
  if (plan.on_device) return cuda::time_groups(*plan.on_device, operands, repeats.groups, repeats.runs);
  return timed_run(plan, operands, 0, repeats.groups);
}

Shapes spmm_shapes(const formats::FormatView& a, std::int64_t n) {
  return {Shape{a.cols, n}, Shape{a.rows, n}, Shape{}};
}

Result<std::vector<double>> time_spmm(const ProductPlan& plan, const Parts& parts, const Repeats& repeats) {
  const std::int64_t n = plan.options.n;
  return time_runs(plan, SpmmOperands{.b = parts[0], .ldb = n, .c = parts[1], .ldc = n}, repeats);
}

Shapes sddmm_shapes(const formats::FormatView& a, std::int64_t n) {
  return {Shape{a.rows, n}, Shape{a.cols, n}, Shape{a.nnz, 1}};
}

Result<std::vector<double>> time_sddmm(const ProductPlan& plan, const Parts& parts, const Repeats& repeats) {
  const std::int64_t n = plan.options.n;
  return time_runs(plan, SddmmOperands{.x = parts[0], .ldx = n, .y = parts[1], .ldy = n, .out = parts[2]},
                   repeats);
}

/// A new operation adds a row.
struct Operation {
  std::string_view op;
  Shapes (*shapes)(const formats::FormatView&, std::int64_t n);
  Result<std::vector<double>> (*time)(const ProductPlan&, const Parts&, const Repeats&);
};
constexpr Operation kOperations[] = {{"spmm", spmm_shapes, time_spmm}, {"sddmm", sddmm_shapes, time_sddmm}};

/// Numbers in (-1, 1), the same every time; operands repeat them.
std::vector<std::byte> random_pattern(DType dtype) {
  constexpr std::int64_t kElements = 1 << 14;
  std::vector<std::byte> pattern(static_cast<std::size_t>(kElements) * size_of(dtype));
  std::uint64_t state = 1;
  for (std::int64_t i = 0; i < kElements; ++i) {
    // Linear congruential, with the multiplier of MMIX (Knuth, The Art of Computer Programming, fascicle 1).
    state = state * 6364136223846793005u + 1;
    write_element(dtype, pattern.data(), i, static_cast<double>(state >> 40) * 0x1p-23 - 1);
  }
  return pattern;
}

Result<std::shared_ptr<std::byte>> host_scratch(std::span<const std::byte> pattern, std::size_t bytes) {
  std::shared_ptr<std::byte> memory(static_cast<std::byte*>(::operator new(bytes, std::nothrow)),
                                    [](std::byte* p) { ::operator delete(p); });
  if (memory == nullptr)
    return fail(Errc::io,
                "plan: no room for " + std::to_string(bytes) + " bytes of operands to measure with");
  std::byte* const to = memory.get();
  std::size_t filled = std::min(pattern.size(), bytes);
  std::memcpy(to, pattern.data(), filled);
  for (; filled < bytes; filled += std::min(filled, bytes - filled))
    std::memcpy(to + filled, to, std::min(filled, bytes - filled));
  return memory;
}

/// Operands that nobody needs.
struct Scratch {
  std::shared_ptr<std::byte> memory;
  Parts parts = {};
};

Result<Scratch> make_scratch(const Operation& operation, const formats::FormatView& a,
                             const PlanOptions& options) {
  const auto element = static_cast<std::int64_t>(size_of(options.dense));
  std::array<std::int64_t, kMostParts> offsets{};
  std::int64_t total = kAlignment;  // at least something
  const Shapes shapes = operation.shapes(a, options.n);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    std::int64_t part = 0;
    offsets[i] = total;
    if (__builtin_mul_overflow(shapes[i].rows, shapes[i].columns, &part) ||
        __builtin_mul_overflow(part, element, &part) ||
        __builtin_add_overflow(total, part / kAlignment * kAlignment + kAlignment, &total))
      return fail(Errc::unsupported, "plan: operands of n = " + std::to_string(options.n) +
                                         " columns take more than 2^63 bytes");
  }
  const auto bytes = static_cast<std::size_t>(total);
  const std::vector<std::byte> pattern = random_pattern(options.dense);
  auto memory = options.device == Device::cpu ? host_scratch(pattern, bytes)
                                              : cuda::make_scratch(options.device_ordinal, pattern, bytes);
  if (!memory) return tl::unexpected(memory.error());
  Scratch scratch{std::move(*memory)};
  for (std::size_t i = 0; i < offsets.size(); ++i) scratch.parts[i] = scratch.memory.get() + offsets[i];
  return scratch;
}

/// By what the second run took. Groups on a device make up for the clock of its events; on a CPU others
/// disturb, and more runs help.
Repeats repeats_for(Device device, double once) {
  constexpr double kGroup = 2e-4, kAll = 3e-2;
  const double seconds = std::max(once, 1e-7);
  const int groups = static_cast<int>(std::clamp(kAll / seconds, 3.0, 9.0));
  return {groups, device == Device::cpu ? 1 : static_cast<int>(std::clamp(kGroup / seconds, 1.0, 20.0))};
}

Result<double> median_seconds(const Operation& operation, const ProductPlan& plan, const Scratch& scratch) {
  const auto first = operation.time(plan, scratch.parts, {2, 1});
  if (!first) return tl::unexpected(first.error());
  auto all = operation.time(plan, scratch.parts, repeats_for(plan.options.device, first->back()));
  if (!all) return tl::unexpected(all.error());
  const auto middle = all->begin() + std::ssize(*all) / 2;
  std::nth_element(all->begin(), middle, all->end());
  return *middle;
}

/// Those to run: none where there is nothing to choose.
std::vector<Candidate*> worth_running(std::vector<Candidate>& list) {
  std::vector<Candidate*> some;
  for (Candidate& candidate : list)
    if (candidate.refused.empty()) some.push_back(&candidate);
  const bool all_known =
      std::all_of(some.begin(), some.end(), [](const Candidate* c) { return c->predicted_us.has_value(); });
  const Candidate* const best = chosen_of(list);
  if (all_known && best != nullptr) {
    const auto hopeless = [&](const Candidate* c) {
      return *c->predicted_us > kHopeless * *best->predicted_us;
    };
    some.erase(std::remove_if(some.begin(), some.end(), hopeless), some.end());
  }
  if (some.size() < 2) some.clear();
  return some;
}

/// True when another candidate may do better.
bool is_refusal(Errc code) { return code == Errc::unsupported || code == Errc::device || code == Errc::io; }

}  // namespace

Status measure_candidates(std::string_view op, std::span<const PlanMatrix> matrices,
                          const PlanOptions& options, std::vector<Candidate>& list) {
  const std::vector<Candidate*> some = worth_running(list);
  const auto* const operation = std::find_if(std::begin(kOperations), std::end(kOperations),
                                             [&](const Operation& o) { return o.op == op; });
  if (some.empty() || operation == std::end(kOperations)) return {};
  if (const auto device = check_options(options); !device) return tl::unexpected(device.error());
  const auto scratch = make_scratch(*operation, matrices.front().format, options);
  if (!scratch) return tl::unexpected(scratch.error());
  Candidate* best = nullptr;
  for (Candidate* const candidate : some) {
    PlanOptions one = options;
    one.kernel = candidate->kernel->name;
    one.refreshable = false;
    const auto plan = plan_product(op, matrices[candidate->matrix], one);
    if (!plan && !is_refusal(plan.error().code)) return tl::unexpected(plan.error());
    if (!plan) {
      candidate->refused = plan.error().message;
      continue;
    }
    const auto seconds = median_seconds(*operation, **plan, *scratch);
    if (!seconds) return tl::unexpected(seconds.error());
    candidate->measured_us = 1e6 * *seconds;
    if (best == nullptr || *candidate->measured_us < *best->measured_us) best = candidate;
  }
  for (Candidate& candidate : list) candidate.chosen = &candidate == best;
  return {};
}

}  // namespace sptile::runtime
