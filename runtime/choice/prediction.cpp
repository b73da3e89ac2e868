#include "runtime/choice/prediction.hpp"

#include <unistd.h>

#include <algorithm>

#include "runtime/choice/profiles.hpp"
#include "runtime/cuda/backend.hpp"

namespace sptile::runtime {
namespace {

/// Typical L2 size of one core.
constexpr double kCpuNearBytes = 1e6;
constexpr double kCpuFarBytes = 32e6;  ///< fallback if the system does not report it

Caches caches_of(Device kind, const cuda::DeviceInfo& device) {
  if (kind == Device::cuda) return {Caches{}.near_bytes, static_cast<double>(device.l2_bytes)};
  const long last_level = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return {kCpuNearBytes, last_level > 0 ? static_cast<double>(last_level) : kCpuFarBytes};
}

/// Input shared by all candidates of one call.
struct Question {
  const Operation& op;
  const PlanOptions& options;
  cuda::DeviceInfo device;
  std::span<const PlanMatrix> matrices;
  std::optional<DeviceProfile> profile;
  const ReadLists& read;
};

/// Sets the precision of a candidate. Errors have the reason why its kernel cannot run or is not chosen.
Status resolve(const Question& question, const PlanMatrix& a, Candidate& candidate) {
  const PlanOptions& options = question.options;
  if (Status s = check_defined(*candidate.kernel, options); !s) return s;
  if (options.device == Device::cpu) {
    if (!has_instance(*candidate.kernel, a.format.value_dtype(), types_of(options)))
      return fail(Errc::unsupported, "no kernel for these types");
    candidate.precision = cpu_precision(options.dense);
    return {};
  }
  const Multiplicand requested = multiplicand_of(question.op, a.format);
  const cuda::DeviceKernel* const row = find_instance(*candidate.kernel, requested, options, question.device);
  if (row == nullptr)
    return fail(Errc::unsupported, no_instance(*candidate.kernel, requested, options, question.device));
  candidate.precision = row->precision;
  if (options.kernel.empty() && !may_be_chosen(*candidate.kernel, *row, question.profile))
    return fail(Errc::unsupported, "runs only by name");
  return {};
}

/// Returns whether a kernel by name is offered to plans without a name.
bool is_measured(const Kernel& kernel, const Question& question) {
  return kernel.by_name && question.options.kernel.empty() && question.profile &&
         question.profile->has_times(kernel.name);
}

/// On the CPU, only one kernel per format is offered: the one for the widest instructions, or the requested
/// one.
bool is_offered(const Kernel& kernel, const PlanMatrix& a, const Question& question) {
  const Operation& op = question.op;
  const PlanOptions& options = question.options;
  if (kernel.op != &op || kernel.format != a.format.layout->name || kernel.device != options.device)
    return false;
  if (options.device == Device::cuda)
    return is_requested(kernel, options.kernel) || is_measured(kernel, question);
  return &kernel == find_kernel(op, a.format.layout->name, Device::cpu, options.kernel);
}

CostFeatures features_of(const Question& question, const Operation& op, const PlanMatrix& a,
                         const PlanOptions& options, Misses misses) {
  formats::FormatView format = a.format;
  if (question.read && misses == Misses::sampled) {
    if (const auto readable = question.read(format))
      format = *readable;
    else
      misses = Misses::all;
  }
  return cost_features(op, format, sizes_of(options), types_of(options),
                       caches_of(options.device, question.device), misses);
}

/// Predicts the time of a kernel with a first step: that of the first step, for each head, and its own
/// operation counts.
std::optional<double> predict_steps(const Question& question, const PlanMatrix& a, const Kernel& kernel,
                                    Misses misses) {
  const PlanOptions& options = question.options;
  const PlanOptions first = options_of_first(options);
  const auto chosen = choose_kernel(multiplicand_of(*kernel.first->op, a.format), first, question.device);
  if (!chosen) return std::nullopt;
  const auto before = question.profile->predict(chosen->kernel->name, name_of(chosen->instance->precision),
                                                features_of(question, *kernel.first->op, a, first, misses));
  if (!before) return std::nullopt;
  const RunSizes sizes = sizes_of(options);
  const auto heads = static_cast<double>(sizes.heads), n = static_cast<double>(sizes.n);
  return heads * *before +
         kernel.first->then_us({.rows = a.format.rows,
                                .row_bytes = heads * n * static_cast<double>(size_of(options.dense)),
                                .n = n,
                                .m = static_cast<double>(sizes.m),
                                .heads = heads,
                                .result_bytes = static_cast<double>(size_of(types_of(options).result))});
}

/// Predicts by the kernel's constants, or by those of its steps or of the kernel `like`.
std::optional<double> predict(const Question& question, const Candidate& candidate, Misses misses) {
  if (!question.profile) return std::nullopt;
  const Kernel& kernel = *candidate.kernel;
  const auto by = [&](std::string_view name) {
    return question.profile->predict(name, name_of(candidate.precision), candidate.features);
  };
  if (const auto known = by(kernel.name)) return known;
  if (kernel.first != nullptr)
    return predict_steps(question, question.matrices[candidate.matrix], kernel, misses);
  return kernel.like.empty() ? std::nullopt : by(kernel.like);
}

void add_candidates(const Question& question, std::size_t position, std::vector<Candidate>& list) {
  const PlanOptions& options = question.options;
  const PlanMatrix& a = question.matrices[position];
  const std::size_t before = list.size();
  for (const Kernel& kernel : kernels()) {
    if (!is_offered(kernel, a, question)) continue;
    Candidate& candidate = list.emplace_back();
    candidate.matrix = position;
    candidate.format = a.format.layout->name;
    candidate.kernel = &kernel;
    if (const Status s = resolve(question, a, candidate); !s) candidate.refused = s.error().message;
    if (!candidate.refused.empty() && !is_requested(kernel, options.kernel)) list.pop_back();
  }
  if (list.size() > before) return;
  Candidate& none = list.emplace_back();
  none.matrix = position;
  none.format = a.format.layout->name;
  none.refused = options.kernel.empty() ? "no kernel for this format"
                                        : "kernel " + std::string(options.kernel) + " is not for this format";
}

using Candidates = std::vector<Candidate*>;

Candidates usable(std::vector<Candidate>& list) {
  Candidates some;
  for (Candidate& candidate : list)
    if (candidate.refused.empty()) some.push_back(&candidate);
  return some;
}

/// Predicts all candidates. Candidates of one format are consecutive and share their features.
void count_and_predict(const Question& question, const Candidates& list, Misses misses = Misses::sampled) {
  const Candidate* counted = nullptr;
  for (Candidate* const candidate : list) {
    if (counted != nullptr && counted->matrix == candidate->matrix)
      candidate->features = counted->features;
    else
      candidate->features =
          features_of(question, question.op, question.matrices[candidate->matrix], question.options, misses);
    counted = candidate;
    candidate->predicted_us = predict(question, *candidate, misses);
  }
}

/// Returns the candidates that may be the fastest; none if one of two or more has no model. Costs are
/// nonnegative, so a prediction is between those with no misses and with only misses.
Candidates contenders(const Question& question, Candidates list) {
  if (list.size() < 2) return list;
  std::optional<double> enough;
  if (question.profile) count_and_predict(question, list, Misses::all);
  for (const Candidate* c : list)
    if (c->predicted_us) enough = std::min(*c->predicted_us, enough.value_or(*c->predicted_us));
  if (!enough) return {};
  count_and_predict(question, list, Misses::none);
  std::erase_if(list, [&](const Candidate* c) { return !c->predicted_us || *c->predicted_us > *enough; });
  return list;
}

/// Returns whether the first candidate is preferred.
bool better(const Candidate& a, const Candidate& b) {
  if (a.predicted_us.has_value() != b.predicted_us.has_value()) return a.predicted_us.has_value();
  if (a.predicted_us) return *a.predicted_us < *b.predicted_us;
  return a.format == "csr" && b.format != "csr";
}

void choose(const Candidates& list) {
  Candidate* best = nullptr;
  for (Candidate* const candidate : list)
    if (best == nullptr || better(*candidate, *best)) best = candidate;
  if (best != nullptr) best->chosen = true;
}

void choose_the_fastest(const Question& question, const Candidates& all) {
  const Candidates some = contenders(question, all);
  for (Candidate* const candidate : all) {  // removes bounds, which are not predictions
    candidate->features = {};
    candidate->predicted_us.reset();
  }
  if (some.size() > 1) count_and_predict(question, some);
  choose(some.empty() ? all : some);
}

Status check_question(std::span<const PlanMatrix> matrices, const PlanOptions& options) {
  if (matrices.empty()) return fail(Errc::usage, "predict: no format to choose from");
  if (options.n < 1)
    return fail(Errc::usage,
                "predict: n = " + std::to_string(options.n) + "; dense operands need at least one column");
  if (Status s = check_types(options); !s) return s;
  for (const PlanMatrix& a : matrices) {
    if (a.format.layout == nullptr) return fail(Errc::usage, "predict: a matrix has no format");
    if (Status s = a.format.layout->check_lengths(a.format); !s) return s;
  }
  return {};
}

}  // namespace

bool may_be_chosen(const Kernel& kernel, const cuda::DeviceKernel& row,
                   const std::optional<DeviceProfile>& profile) {
  if (!kernel.by_name) return true;
  return row.store != nullptr && profile && profile->has_times(kernel.name, name_of(row.precision));
}

Result<std::vector<Candidate>> predict_product(const Operation& op, std::span<const PlanMatrix> matrices,
                                               const PlanOptions& options, Detail detail,
                                               const ReadLists& read) {
  if (Status s = check_question(matrices, options); !s) return tl::unexpected(s.error());
  Question question{op, options, {}, matrices, {}, read};
  if (options.device == Device::cuda) {
    Result<cuda::DeviceInfo> found = cuda::find_device(options.device_ordinal);
    if (!found) return tl::unexpected(found.error());
    question.device = std::move(*found);
  }
  auto profile = find_profile(profile_device(options.device, question.device));
  if (!profile) return tl::unexpected(profile.error());
  question.profile = std::move(*profile);
  std::vector<Candidate> list;
  for (std::size_t i = 0; i < matrices.size(); ++i) add_candidates(question, i, list);
  const Candidates some = usable(list);
  if (detail == Detail::choice) {
    choose_the_fastest(question, some);
    return list;
  }
  if (question.profile || detail == Detail::features) count_and_predict(question, some);
  choose(some);
  return list;
}

const Candidate* chosen_of(std::span<const Candidate> list) {
  for (const Candidate& candidate : list)
    if (candidate.chosen) return &candidate;
  return nullptr;
}

}  // namespace sptile::runtime
