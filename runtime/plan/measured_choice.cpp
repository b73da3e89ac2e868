#include "runtime/plan/measured_choice.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <new>

#include "runtime/plan/product_plan.hpp"
#include "runtime/reference/element.hpp"

namespace sptile::runtime {
namespace {

constexpr std::int64_t kAlignment = 256;

/// Number of runs of a measurement.
struct Repeats {
  int groups = 1, runs = 1;
};

Result<std::vector<double>> time_runs(const ProductPlan& plan, const Operands& operands,
                                      const Repeats& repeats) {
  if (plan.on_device) return cuda::time_groups(*plan.on_device, operands, repeats.groups, repeats.runs);
  return timed_run(plan, *plan.op, operands, 0, repeats.groups);
}

/// Returns pseudo-random numbers in (-1, 1) with a fixed seed, with which operands are filled periodically. A
/// result of another type starts with these bytes, because it is only written.
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
    return fail(Errc::io, "plan: not enough memory for " + std::to_string(bytes) +
                              " bytes of operands for measurements");
  std::byte* const to = memory.get();
  std::size_t filled = std::min(pattern.size(), bytes);
  std::memcpy(to, pattern.data(), filled);
  for (; filled < bytes; filled += std::min(filled, bytes - filled))
    std::memcpy(to + filled, to, std::min(filled, bytes - filled));
  return memory;
}

/// Operands of measurements, contiguous in one allocation.
struct Scratch {
  std::shared_ptr<std::byte> memory;
  Operands operands;
};

Result<Scratch> make_scratch(const Operation& op, const formats::FormatView& a, const PlanOptions& options) {
  std::array<std::int64_t, kMaxOperands> offsets{};
  std::int64_t total = kAlignment;  // an allocation is never empty
  Scratch scratch;
  const OperandSizes sizes = {a.rows, a.cols, a.nnz, sizes_of(options), options.variant.transposed_weights};
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const OperandSpec& spec = op.operands[i];
    scratch.operands.dense[i].ld = shape_of(spec, sizes).width;
    if (spec.optional && spec.result) continue;  // optional results are written only on request
    const auto element = static_cast<std::int64_t>(size_of(type_of(spec, types_of(options))));
    const auto elements = elements_of(spec, sizes);
    std::int64_t part = 0;
    offsets[i] = total;
    if (!elements || __builtin_mul_overflow(*elements, element, &part) ||
        __builtin_add_overflow(total, part / kAlignment * kAlignment + kAlignment, &total))
      return fail(Errc::unsupported, "plan: operands of n = " + std::to_string(options.n) +
                                         " columns take more than 2^63 bytes");
  }
  const auto bytes = static_cast<std::size_t>(total);
  const std::vector<std::byte> pattern = random_pattern(options.dense);
  auto memory = options.device == Device::cpu ? host_scratch(pattern, bytes)
                                              : cuda::make_scratch(options.device_ordinal, pattern, bytes);
  if (!memory) return tl::unexpected(memory.error());
  scratch.memory = std::move(*memory);
  for (std::size_t i = 0; i < op.operands.size(); ++i)
    if (offsets[i] > 0) scratch.operands.dense[i].data = scratch.memory.get() + offsets[i];
  return scratch;
}

/// Chooses the number of runs from the time of the second one. On a device, groups of runs compensate for the
/// resolution of events. On a CPU, more runs compensate for noise.
Repeats repeats_for(Device device, double once) {
  constexpr double kGroup = 2e-4, kAll = 3e-2;
  const double seconds = std::max(once, 1e-7);
  const int groups = static_cast<int>(std::clamp(kAll / seconds, 3.0, 9.0));
  return {groups, device == Device::cpu ? 1 : static_cast<int>(std::clamp(kGroup / seconds, 1.0, 20.0))};
}

Result<double> median_seconds(const ProductPlan& plan, const Operands& operands) {
  const auto first = time_runs(plan, operands, {2, 1});
  if (!first) return tl::unexpected(first.error());
  auto all = time_runs(plan, operands, repeats_for(plan.options.device, first->back()));
  if (!all) return tl::unexpected(all.error());
  const auto middle = all->begin() + std::ssize(*all) / 2;
  std::nth_element(all->begin(), middle, all->end());
  return *middle;
}

/// Returns the candidates to run; none if there is no choice.
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

/// Returns whether another candidate may succeed after this error.
bool is_refusal(Errc code) { return code == Errc::unsupported || code == Errc::device || code == Errc::io; }

}  // namespace

Status measure_candidates(const MeasuringRequest& request, ChosenPlan& chosen) {
  const PlanOptions& options = request.options;
  const std::vector<Candidate*> some = worth_running(chosen.candidates);
  if (some.empty()) return {};
  if (const auto device = check_options(options); !device) return tl::unexpected(device.error());
  const auto scratch = make_scratch(request.op, request.matrices.front().format, options);
  if (!scratch) return tl::unexpected(scratch.error());
  Candidate* best = nullptr;
  for (Candidate* const candidate : some) {
    PlanOptions one = options;
    one.kernel = candidate->kernel->name;
    auto plan = request.plan_one(candidate->matrix, one);
    if (!plan && !is_refusal(plan.error().code)) return tl::unexpected(plan.error());
    if (!plan) {
      candidate->refused = plan.error().message;
      continue;
    }
    const auto seconds = median_seconds(**plan, scratch->operands);
    if (!seconds) return tl::unexpected(seconds.error());
    candidate->measured_us = 1e6 * *seconds;
    if (best != nullptr && *candidate->measured_us >= *best->measured_us) continue;
    best = candidate;
    chosen.plan = std::move(*plan);
  }
  for (Candidate& candidate : chosen.candidates) candidate.chosen = &candidate == best;
  return {};
}

Result<std::shared_ptr<ProductPlan>> fastest_plan(
    const Operation& op, const formats::FormatView& a, const PlanOptions& options, std::size_t count,
    const std::function<Result<std::shared_ptr<ProductPlan>>(std::size_t)>& plan_one) {
  if (const auto device = check_options(options); !device) return tl::unexpected(device.error());
  const auto scratch = make_scratch(op, a, options);
  if (!scratch && is_refusal(scratch.error().code)) return plan_one(0);
  if (!scratch) return tl::unexpected(scratch.error());
  Result<std::shared_ptr<ProductPlan>> best = nullptr;
  double best_seconds = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < count; ++i) {
    auto plan = plan_one(i);
    if (!plan) {
      if (!is_refusal(plan.error().code)) return plan;
      if (i == 0) best = std::move(plan);
      continue;
    }
    const auto seconds = median_seconds(**plan, scratch->operands);
    if (!seconds) return tl::unexpected(seconds.error());
    if (*seconds >= best_seconds) continue;
    best_seconds = *seconds;
    best = std::move(plan);
  }
  return best;
}

}  // namespace sptile::runtime
