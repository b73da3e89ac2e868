#include "tools/suite/run_suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "tools/cli/json.hpp"
#include "tools/cuda/core_rates.hpp"
#include "tools/cuda/device_bench.hpp"
#include "tools/measure/bench_groups.hpp"
#include "tools/measure/bench_rows.hpp"
#include "tools/measure/row_printer.hpp"
#include "tools/suite/core_rate_report.hpp"
#include "tools/suite/paper_list.hpp"
#include "tools/suite/structures.hpp"
#include "tools/suite/suite_report.hpp"

namespace sptile::tools {
namespace {

/// Results of the tasks of a suite.
struct SuiteResults {
  Json rows = Json::array();
  std::vector<Json> structures = {};  ///< rows of measure_structures
  Json core_rates = nullptr;
  std::int64_t resumed = 0;
  std::vector<FailedInput> failed = {};
  std::set<std::string> skipped = {};
  std::string device = {};
  Status outcome = {};  ///< first error
};

// Sets the inputs of a request without IN to the matrices of the paper's list.
Status add_listed_matrices(SuiteRequest& request, std::vector<Missing>& missing) {
  if (!request.inputs.empty()) return {};
  const auto path = find_paper_list(request.matrices, request.suite);
  if (!path) return tl::unexpected(path.error());
  const auto list = read_paper_list(*path);
  if (!list) return tl::unexpected(list.error());
  auto found = find_matrices(*list, request.matrices);
  if (!found) return tl::unexpected(std::move(found.error()));
  if (found->paths.empty())
    return fail(Errc::usage,
                fmt::format("contains none of the {} matrices of {}; fetch them, or pass matrices",
                            list->size(), *path),
                request.matrices);
  request.inputs = std::move(found->paths);
  for (const ListedMatrix& matrix : found->missing)
    missing.push_back({"matrix", matrix.name,
                       fmt::format("not in {} ({} {})", request.matrices, matrix.collection, matrix.url)});
  return {};
}

Status run_task(Session& session, const SuiteRequest& request, BenchTask& task, SuiteResults& results) {
  auto log = CsvLog::open(request.csv, suite_columns());
  if (!log) return tl::unexpected(std::move(log.error()));
  if (Status s = check_bench_rows(log->rows(), request.csv); !s) return s;
  auto bench = make_device_bench(
      session,
      {.flush_l2 = task.flush_l2, .graph = task.graph, .check = task.check, .attributes = task.attributes});
  if (!bench) return tl::unexpected(std::move(bench.error()));
  print_rows(session, task);
  Benchmark benchmark(session, task, std::move(*log), std::move(*bench));
  const Status stored = benchmark.run();
  for (const Json& row : benchmark.rows()) results.rows.push_back(row);
  results.resumed += benchmark.resumed();
  results.failed.insert(results.failed.end(), benchmark.failed().begin(), benchmark.failed().end());
  results.skipped.insert(benchmark.skipped().begin(), benchmark.skipped().end());
  if (const auto facts = benchmark.device()) results.device = facts->name;
  if (results.outcome) results.outcome = benchmark.outcome();
  return stored;
}

bool has_failed(const SuiteResults& results, const std::string& path) {
  return std::ranges::any_of(results.failed, [&](const FailedInput& one) { return one.path == path; });
}

// Measures the structures of all matrices; a matrix that cannot be read or converted is a failed input.
void run_structures(Session& session, const SuitePlan& plan, const SuiteRequest& request,
                    SuiteResults& results) {
  if (plan.structures.empty()) return;
  for (const std::string& path : request.inputs) {
    if (has_failed(results, path)) continue;
    auto rows = measure_structures(session, plan, path, request.input);
    if (rows) {
      results.structures.insert(results.structures.end(), rows->begin(), rows->end());
      continue;
    }
    if (request.inputs.size() > 1) session.warn(rows.error().text());
    results.failed.push_back({path, std::move(rows.error())});
  }
  if (results.outcome && !results.failed.empty())
    results.outcome = not_measured(results.failed, std::ssize(request.inputs));
}

Status run_core_rates(const SuitePlan& plan, SuiteResults& results) {
  if (!plan.core_rates) return {};
  return measure_core_rates().map(
      [&](const std::vector<CoreRate>& rates) { results.core_rates = to_json(rates); });
}

Json failed_json(const std::vector<FailedInput>& failed) {
  Json list = Json::array();
  for (const auto& [path, error] : failed)
    list.push_back({{"input", path}, {"error", error.text()}, {"exit", static_cast<int>(error.code)}});
  return list;
}

void print_results(const Session& session, const SuitePlan& plan, SuiteResults& results) {
  Json json = new_result(session);
  const Json summary = summarize(plan, results.rows);
  json.update(
      {{"suite", plan.suite->name}, {"resumed", results.resumed}, {"failed", failed_json(results.failed)}});
  json["missing"] = to_json(plan.missing);
  json["left_out"] = results.skipped;
  mark_rows(results.rows);
  json["experiments"] = summary;
  json["rows"] = results.rows;
  const Json structures = summarize_structures(plan, results.structures);
  json.update({{"structures", structures}, {"structure_rows", results.structures}});
  json["core_rates"] = results.core_rates;
  std::string text =
      results.device.empty() ? "" : fmt::format("\n{} on {}\n", plan.suite->paper, results.device);
  text += missing_text(plan.missing) + summary_text(summary) + structures_text(structures);
  if (!results.core_rates.is_null())
    text +=
        core_rates_text(results.core_rates, fmt::format("{} {}: tensor cores and CUDA cores at the same time",
                                                        plan.suite->name, plan.suite->core_rates));
  print_result(session, json, text);
  if (const std::string noise = noise_text(results.rows); !noise.empty()) session.warn(noise);
}

}  // namespace

Status run_suite(Session& session, SuiteRequest request) {
  auto plan = plan_suite(request);
  if (!plan) return tl::unexpected(std::move(plan.error()));
  if (plan->needs_matrices)
    if (Status s = add_listed_matrices(request, plan->missing); !s) return s;
  SuiteResults results;
  for (BenchTask& task : tasks_of(*plan, request))
    if (Status s = run_task(session, request, task, results); !s) return s;
  run_structures(session, *plan, request, results);
  if (Status s = run_core_rates(*plan, results); !s) return s;
  print_results(session, *plan, results);
  return results.outcome;
}

}  // namespace sptile::tools
