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

using Scratch = Contest::Scratch;

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
Repeats repeats_for(Device device, double once, double budget) {
  constexpr double kGroup = 2e-4, kAll = 3e-2, kShare = 0.1, kLeast = 3, kMost = 9;
  const double seconds = std::max(once, 1e-7);
  const double groups = std::min(kAll, kShare * budget) / seconds;
  return {static_cast<int>(std::clamp(groups, budget > kLeast * seconds ? kLeast : 1, kMost)),
          device == Device::cpu ? 1 : static_cast<int>(std::clamp(kGroup / seconds, 1.0, 20.0))};
}

Result<double> median_seconds(const ProductPlan& plan, const Operands& operands, double budget) {
  const auto first = time_runs(plan, operands, {2, 1});
  if (!first) return tl::unexpected(first.error());
  auto all = time_runs(plan, operands, repeats_for(plan.options.device, first->back(), budget));
  if (!all) return tl::unexpected(all.error());
  const auto middle = all->begin() + std::ssize(*all) / 2;
  std::nth_element(all->begin(), middle, all->end());
  return *middle;
}

/// Returns the candidates that can run, the one with the lowest prediction first and those without one last.
std::vector<Candidate*> by_prediction(std::vector<Candidate>& list) {
  std::vector<Candidate*> some;
  for (Candidate& candidate : list)
    if (candidate.refused.empty()) some.push_back(&candidate);
  std::stable_sort(some.begin(), some.end(), [](const Candidate* a, const Candidate* b) {
    constexpr double kUnknown = std::numeric_limits<double>::infinity();
    return a->predicted_us.value_or(kUnknown) < b->predicted_us.value_or(kUnknown);
  });
  return some;
}

/// Returns the candidates to run by ascending prediction; none if there is no choice.
std::vector<Candidate*> worth_running(std::vector<Candidate>& list) {
  std::vector<Candidate*> some = by_prediction(list);
  if (!some.empty() && some.back()->predicted_us) {  // all have predictions
    const double most = kHopeless * *some.front()->predicted_us;
    std::erase_if(some, [&](const Candidate* c) { return *c->predicted_us > most; });
  }
  if (some.size() < 2) some.clear();
  return some;
}

/// Returns whether another candidate may succeed after this error.
bool is_refusal(Errc code) { return code == Errc::unsupported || code == Errc::device || code == Errc::io; }

}  // namespace

Result<Contest> Contest::open(const Operation& op, const formats::FormatView& a, const PlanOptions& options) {
  if (const auto device = check_options(options); !device) return tl::unexpected(device.error());
  auto scratch = make_scratch(op, a, options);
  if (!scratch) return tl::unexpected(std::move(scratch.error()));
  return Contest(std::move(*scratch), options.budget);
}

double Contest::left() const {
  return budget_ - std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

Result<double> Contest::run(std::shared_ptr<ProductPlan> plan) {
  const auto seconds = median_seconds(*plan, scratch_.operands, std::max(left(), 0.0));
  if (!seconds) return seconds;
  if (fastest_ == nullptr || *seconds < seconds_) {
    seconds_ = *seconds;
    fastest_ = std::move(plan);
  }
  return seconds;
}

Status measure_candidates(const MeasuringRequest& request, ChosenPlan& chosen) {
  const std::vector<Candidate*> some = worth_running(chosen.candidates);
  if (some.empty()) return {};
  auto contest = Contest::open(request.op, request.matrices.front().format, request.options);
  if (!contest) return tl::unexpected(contest.error());
  Candidate* best = nullptr;
  for (Candidate* const candidate : some) {
    if (contest->is_over()) break;
    PlanOptions one = request.options;
    one.kernel = candidate->kernel->name;
    auto plan = request.plan_one(candidate->matrix, one);
    if (!plan && !is_refusal(plan.error().code)) return tl::unexpected(plan.error());
    if (!plan) {
      candidate->refused = plan.error().message;
      continue;
    }
    const auto seconds = contest->run(*plan);
    if (!seconds) return tl::unexpected(seconds.error());
    candidate->measured_us = 1e6 * *seconds;
    if (contest->fastest() == *plan) best = candidate;
  }
  chosen.plan = contest->fastest();
  for (Candidate& candidate : chosen.candidates) candidate.chosen = &candidate == best;
  return {};
}

namespace {

/// Measures the candidates of format `i` that are predicted to take at most `enough` microseconds, and lowers
/// it to kHopeless times the lowest prediction of those that ran. Returns the first error if none ran.
Status run_format(std::size_t i, const PlanOptions& options, const Alternatives& alternatives,
                  Contest& contest, double& enough) {
  auto list = alternatives.candidates(i);
  if (!list) return tl::unexpected(list.error());
  Status first = fail(Errc::unsupported, "plan: " + list->front().refused);
  bool ran = false;
  for (const Candidate* const candidate : by_prediction(*list)) {
    if (candidate->predicted_us.value_or(0) > enough || contest.is_over()) return {};
    PlanOptions one = options;
    one.kernel = candidate->kernel->name;
    const auto plan = alternatives.plan(i, one);
    if (!plan && !is_refusal(plan.error().code)) return tl::unexpected(plan.error());
    if (!plan && !ran) first = tl::unexpected(plan.error());
    if (!plan) continue;
    if (const auto seconds = contest.run(*plan); !seconds) return tl::unexpected(seconds.error());
    if (candidate->predicted_us) enough = std::min(enough, kHopeless * *candidate->predicted_us);
    ran = true;
  }
  return ran ? Status() : first;
}

}  // namespace

Result<std::shared_ptr<ProductPlan>> fastest_plan(const Operation& op, const formats::FormatView& a,
                                                  const PlanOptions& options,
                                                  const Alternatives& alternatives) {
  auto contest = Contest::open(op, a, options);
  if (!contest && is_refusal(contest.error().code)) {
    if (const auto list = alternatives.candidates(0); !list) return tl::unexpected(list.error());
    return alternatives.plan(0, options);
  }
  if (!contest) return tl::unexpected(contest.error());
  Status first;
  double enough = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < alternatives.count && !contest->is_over(); ++i) {
    const Status s = run_format(i, options, alternatives, *contest, enough);
    if (!s && !is_refusal(s.error().code)) return tl::unexpected(s.error());
    if (first) first = s;
  }
  if (contest->fastest() == nullptr) return tl::unexpected(first.error());
  return contest->fastest();
}

}  // namespace sptile::runtime
