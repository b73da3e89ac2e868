#include "tools/suite/suite_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "runtime/kernels/kernels.hpp"
#include "tools/cli/json.hpp"
#include "tools/measure/bench_rows.hpp"
#include "tools/measure/operations.hpp"
#include "tools/measure/product_request.hpp"
#include "tools/pipeline/input.hpp"
#include "tools/pipeline/names.hpp"

namespace sptile::tools {
namespace {

runtime::DenseTypes types_of(const PrecisionChoice& p) { return dense_types(p.dense, p.result, p.values); }

bool same_types(const PrecisionChoice& p, const Json& row) {
  const Json& values = row["value_dtype"];
  return row["wanted_dtype"] == p.dense && row["result_dtype"] == name_of(types_of(p).result) &&
         (values == dtype_label(p.values) || values == dtype_label(DType::none));
}

Result<PrecisionChoice> parse_precision(const Experiment& experiment) {
  auto choices = parse_precisions(std::string(experiment.precision), "", "", std::string(experiment.result));
  if (!choices) return tl::unexpected(std::move(choices.error()));
  return choices->front();
}

const runtime::Kernel* kernel_named(std::string_view name) {
  const auto kernels = runtime::kernels();
  const auto found = std::ranges::find(kernels, name, &runtime::Kernel::name);
  return found == kernels.end() ? nullptr : &*found;
}

// Returns why a kernel cannot run; empty if it can.
std::string why_missing(const Variant& variant, const KernelFilter& available, bool check) {
  const runtime::Kernel* const kernel = kernel_named(variant.kernel);
  if (kernel == nullptr)
    return variant.ablation ? "this build was not configured with -Dablations=enabled"
                            : "this version has no such kernel";
  if (!available(*kernel)) return fmt::format("no device of this machine supports it ({})", kernel->isa);
  if (kernel->undefined_result && check) return "its results are undefined: measured with --no-check only";
  return {};
}

bool supports_patterns(std::string_view name, const runtime::DenseTypes& types) {
  const runtime::Kernel* const kernel = kernel_named(name);
  if (kernel == nullptr) return true;
  return std::ranges::any_of(
      runtime::instances_of(*kernel), [&](const runtime::cuda::DeviceKernel& instance) {
        return (instance.values == DType::none || instance.any_values) && instance.dense == types.operands;
      });
}

void add_missing(std::vector<Missing>& missing, std::string_view name, const std::string& why,
                 const Experiment& experiment) {
  const auto known =
      std::ranges::find_if(missing, [&](const Missing& m) { return m.name == name && m.why == why; });
  Missing& one =
      known != missing.end() ? *known : missing.emplace_back(Missing{"kernel", std::string(name), why});
  if (one.experiments.empty() || one.experiments.back() != experiment.name)
    one.experiments.emplace_back(experiment.name);
}

Status add_cases(SuiteExperiment& resolved, const PrecisionChoice& precision, const KernelFilter& available,
                 bool check, std::vector<Missing>& missing) {
  const Experiment& experiment = *resolved.experiment;
  for (const Variant& variant : experiment.variants) {
    if (const std::string why = why_missing(variant, available, check); !why.empty()) {
      add_missing(missing, variant.kernel, why, experiment);
      continue;
    }
    auto formats = parse_formats(variant.format);
    if (!formats) return tl::unexpected(std::move(formats.error()));
    auto ordering = parse_order(variant.order, experiment.window_rows);
    if (!ordering) return tl::unexpected(std::move(ordering.error()));
    resolved.needs_values |= !supports_patterns(variant.kernel, types_of(precision));
    resolved.cases.push_back({std::string(variant.name), std::move(formats->front()),
                              std::string(variant.kernel), std::move(*ordering), precision});
  }
  return {};
}

bool same_order(const Ordering& a, const Ordering& b) {
  return a.label() == b.label() && a.window_rows == b.window_rows;
}

// Returns whether a format has a kernel that need not be named.
bool has_kernel(const runtime::Operation& op, std::string_view format, const KernelFilter& available) {
  return std::ranges::any_of(runtime::kernels(), [&](const runtime::Kernel& kernel) {
    return runtime::is_for(kernel, op, format, runtime::Device::cuda, {}) && available(kernel);
  });
}

// Adds the default kernel of each format, in each order of the experiment's cases.
Status add_compared(SuiteExperiment& resolved, PrecisionChoice precision, const std::string& list,
                    const KernelFilter& available) {
  const Experiment& experiment = *resolved.experiment;
  auto formats = parse_formats(list.empty() ? formats_to_compare(experiment.op) : list);
  if (!formats) return tl::unexpected(std::move(formats.error()));
  precision.name.clear();  // the kernel's default
  for (const SuiteCase& one : resolved.cases)
    for (const FormatChoice& format : *formats) {
      const bool known = std::ranges::any_of(resolved.compared, [&](const SuiteCase& c) {
        return same_order(c.ordering, one.ordering) && c.format.label == format.label;
      });
      if (!known && has_kernel(operation_named(experiment.op), format.converter->format, available))
        resolved.compared.push_back({"fastest known", format, "", one.ordering, precision});
    }
  return {};
}

// Names of all timed experiments, and of all structures.
constexpr const char *kTimes = "times", *kStructures = "structures";

Status check_experiments(const SuiteRequest& request, const Suite& suite) {
  std::vector<std::string> known = names_of(suite.experiments);
  for (std::string& name : names_of(suite.structures)) known.push_back(std::move(name));
  if (!suite.core_rates.empty()) known.emplace_back(suite.core_rates);
  known.insert(known.end(), {kTimes, kStructures});
  for (const std::string& name : request.experiments)
    if (std::ranges::count(known, name) == 0) return tl::unexpected(unknown_name("experiment", name, known));
  return {};
}

bool is_requested(const SuiteRequest& request, std::string_view name, std::string_view group) {
  const auto& names = request.experiments;
  return names.empty() || std::ranges::count(names, name) > 0 || std::ranges::count(names, group) > 0;
}

template <class T, class Same>
void add_once(std::vector<T>& list, const T& item, Same same) {
  if (std::ranges::none_of(list, [&](const T& known) { return same(known, item); })) list.push_back(item);
}

void add_case(BenchTask& task, const SuiteCase& one) {
  add_once(task.formats, one.format, [](const auto& a, const auto& b) { return a.label == b.label; });
  add_once(task.orderings, one.ordering, same_order);
  add_once(task.precisions, one.precision, [](const PrecisionChoice& a, const PrecisionChoice& b) {
    return std::tie(a.name, a.values, a.dense, a.result) == std::tie(b.name, b.values, b.dense, b.result);
  });
  add_once(task.kernels, one.kernel, std::equal_to<>());
}

void add_experiment(BenchTask& task, const SuiteExperiment& experiment) {
  for (const SuiteCase& one : experiment.cases) add_case(task, one);
  for (const SuiteCase& one : experiment.compared) add_case(task, one);
  for (const std::int64_t n : experiment.columns) add_once(task.columns, n, std::equal_to<>());
}

using Experiments = std::vector<const SuiteExperiment*>;

/// Treatment of patterns by a task: as patterns, with random values, or these and no other matrices.
enum class Patterns { as_stored, random, random_only };

// Returns whether a task measures an experiment on the matrix of a row.
bool takes_matrix(const SuiteExperiment& experiment, Patterns patterns, const Json& row) {
  if (patterns == Patterns::random_only) return row["values"] == "random";
  return patterns == Patterns::random || !experiment.needs_values ||
         row["value_dtype"] != dtype_label(DType::none);
}

BenchTask new_task(const SuitePlan& plan, const SuiteRequest& request, const Experiments& experiments,
                   Patterns patterns) {
  BenchTask task;
  task.inputs = request.inputs;
  task.random_patterns = patterns != Patterns::as_stored;
  task.check = request.check;
  task.flush_l2 = request.flush_l2;
  task.graph = request.graph;
  task.cusparse = request.cusparse;
  task.input = request.input;
  task.op = &operation_named(experiments.front()->experiment->op);
  task.attributes = request.attributes;
  task.device = runtime::Device::cuda;
  for (const SuiteExperiment* one : experiments) add_experiment(task, *one);
  task.select = [&plan, experiments, patterns](Json& key) {
    std::vector<std::string_view> names;
    for (const SuiteExperiment* one : experiments)
      if (takes_matrix(*one, patterns, key) && one->contains(key)) names.push_back(one->experiment->name);
    key["suite"] = plan.suite->name;
    key["experiment"] = fmt::format("{}", fmt::join(names, " "));
    return !names.empty();
  };
  return task;
}

}  // namespace

bool SuiteCase::matches(const Json& row) const {
  return row["format"] == format.label && row["wanted_kernel"] == kernel &&
         row["reorder"] == ordering.label() && row["window_rows"] == ordering.window_rows &&
         row["wanted_precision"] == precision.name && same_types(precision, row);
}

bool SuiteExperiment::is_vendor_row(const Json& row) const {
  return std::ranges::count(columns, row["n"].get<std::int64_t>()) > 0 && is_operation(row, experiment->op) &&
         row["wanted_kernel"].get<std::string>().starts_with("cusparse.") && !cases.empty() &&
         same_types(cases.front().precision, row);
}

bool SuiteExperiment::contains(const Json& row) const {
  if (is_vendor_row(row)) return true;
  if (std::ranges::count(columns, row["n"].get<std::int64_t>()) == 0 || !is_operation(row, experiment->op))
    return false;
  const auto matches = [&](const SuiteCase& one) { return one.matches(row); };
  return std::ranges::any_of(cases, matches) || std::ranges::any_of(compared, matches);
}

Result<Ordering> parse_order(std::string_view text, int window_rows) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  OrderRequest request;
  request.method = words.front();
  request.settings.assign(words.begin() + 1, words.end());
  request.window_rows = window_rows;
  return resolve_order(request);
}

Result<SuitePlan> plan_suite(const SuiteRequest& request, const KernelFilter& available) {
  SuitePlan plan{.suite = &suite_named(request.suite)};
  if (Status s = check_experiments(request, *plan.suite); !s) return tl::unexpected(std::move(s.error()));
  Missing device{"device", "cuda", "these experiments measure kernels on a CUDA device"};
  for (const Experiment& experiment : plan.suite->experiments) {
    if (!is_requested(request, experiment.name, kTimes)) continue;
    plan.needs_matrices = true;
    if (!request.on_device) {
      device.experiments.emplace_back(experiment.name);
      continue;
    }
    SuiteExperiment resolved{&experiment, {}, {}, request.columns};
    if (resolved.columns.empty())
      resolved.columns.assign(experiment.columns.begin(), experiment.columns.end());
    const auto precision = parse_precision(experiment);
    if (!precision) return tl::unexpected(precision.error());
    if (Status s = add_cases(resolved, *precision, available, request.check, plan.missing); !s)
      return tl::unexpected(std::move(s.error()));
    if (Status s = add_compared(resolved, *precision, request.formats, available); !s)
      return tl::unexpected(std::move(s.error()));
    if (!resolved.cases.empty()) plan.experiments.push_back(std::move(resolved));
  }
  plan.core_rates = !plan.suite->core_rates.empty() && is_requested(request, plan.suite->core_rates, kTimes);
  if (plan.core_rates && !request.on_device) {
    device.experiments.emplace_back(plan.suite->core_rates);
    plan.core_rates = false;
  }
  if (!device.experiments.empty()) plan.missing.push_back(std::move(device));
  for (const Structure& structure : plan.suite->structures)
    if (is_requested(request, structure.name, kStructures)) plan.structures.push_back(&structure);
  plan.needs_matrices |= !plan.structures.empty();
  return plan;
}

std::vector<BenchTask> tasks_of(const SuitePlan& plan, const SuiteRequest& request) {
  std::map<std::string_view, Experiments> by_op;
  for (const SuiteExperiment& one : plan.experiments) by_op[one.experiment->op].push_back(&one);
  std::vector<BenchTask> tasks;
  for (const auto& [op, experiments] : by_op) {
    Experiments with_values;
    for (const SuiteExperiment* one : experiments)
      if (one->needs_values) with_values.push_back(one);
    const bool mixed = !with_values.empty() && with_values.size() < experiments.size();
    tasks.push_back(new_task(plan, request, experiments, mixed ? Patterns::as_stored : Patterns::random));
    if (with_values.empty()) tasks.back().random_patterns = false;
    if (mixed) tasks.push_back(new_task(plan, request, with_values, Patterns::random_only));
  }
  return tasks;
}

std::span<const CsvColumn> suite_columns() {
  static const std::vector<CsvColumn> columns = [] {
    const auto measured = bench_columns();
    std::vector<CsvColumn> all(measured.begin(), measured.end());
    all.push_back({"suite", true, true});
    all.push_back({"experiment", true, false});
    return all;
  }();
  return columns;
}

}  // namespace sptile::tools
