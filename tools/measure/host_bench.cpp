#include "tools/measure/host_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "runtime/plan/choice.hpp"
#include "runtime/plan/product_plan.hpp"
#include "tools/measure/operations.hpp"
#include "tools/pipeline/stopwatch.hpp"

namespace sptile::tools {
namespace {

constexpr double kSlow = 0.05;  // maximum seconds for the runs of one product

}  // namespace

Status HostBench::set_matrix(const formats::CsrView& source, const runtime::DenseTypes& dense) {
  product_.set_matrix(source, dense);
  return {};
}

Status HostBench::set_operands(const runtime::Operation& op, std::int64_t n) {
  if (Status s = check_operands_fit(op, product_.source(), n); !s) return s;
  product_.set_operands(op, n);
  return {};
}

// Runs one by one on the CPU, so that progress counts them, and all at once on a device.
Result<std::vector<double>> HostBench::counted_run(const runtime::ProductPlan& plan, int warmup, int repeat) {
  if (plan.on_device) return runtime::timed_run(plan, product_.op(), product_.operands(), warmup, repeat);
  begin(&session_.progress, "run", warmup + repeat);
  std::vector<double> seconds;
  for (int i = -warmup; i < repeat; ++i) {
    const auto one = runtime::timed_run(plan, product_.op(), product_.operands(), 0, 1);
    if (!one) return one;
    if (i >= 0) seconds.push_back(one->front());
    advance(&session_.progress, 1);
  }
  return seconds;
}

Result<TimeSummary> HostBench::time(const runtime::ProductPlan& plan) {
  const auto run = [&](int warmup, int repeat) { return counted_run(plan, warmup, repeat); };
  Repeats repeats;
  if (options_.repeats) {
    repeats = *options_.repeats;
  } else {
    const auto first = run(1, 1);
    if (!first) return tl::unexpected(first.error());
    repeats = {3, std::clamp(static_cast<int>(kSlow / first->front()), 3, 20)};
  }
  auto seconds = run(repeats.warmup, repeats.repeat);
  if (!seconds) return tl::unexpected(seconds.error());
  TimeSummary summary = summarise(std::move(*seconds));
  if (!options_.repeats) summary.median = summary.min;
  return summary;
}

Status HostBench::run_and_check(const runtime::PlanMatrix& a, Measurement& m) {
  product_.make_operands();  // after planning, which fails first if anything is wrong
  product_.clear_results();
  begin(&session_.progress, "run", 0);
  const auto seconds = time(*m.plan);
  if (!seconds) return tl::unexpected(seconds.error());
  m.repeat = seconds->count;
  set_times(m, *seconds, product_.source().nnz() * product_.sizes().run.heads);
  if (options_.check == CheckedRows::none) return {};
  const auto rel_err = product_.error(a, {options_.check, options_.trusted}, &session_.progress);
  if (!rel_err) return tl::unexpected(rel_err.error());
  m.checked = true;
  m.rel_err = *rel_err;
  return {};
}

runtime::PlanOptions HostBench::plan_options(const KernelRequest& request) const {
  runtime::PlanOptions options = product_.plan_options();
  options.device = options_.device;
  options.kernel = request.kernel;
  options.threads = options_.threads > 0 ? options_.threads : session_.common.threads;
  options.trusted = options_.trusted;
  options.precision = request.precision;
  options.stored = options_.stored;
  return options;
}

void HostBench::predict(const runtime::PlanMatrix& a, Measurement& m) const {
  const auto predicted = runtime::predict_plan(*m.plan, a, m.plan->options);
  if (predicted) m.predicted_us = *predicted;
  if (!predicted) session_.note("no prediction: " + predicted.error().text());
}

Result<Measurement> HostBench::measure(const runtime::PlanMatrix& a, const KernelRequest& request) {
  const Stopwatch watch;
  auto plan = runtime::plan_product(product_.op(), a, plan_options(request));
  if (!plan) return tl::unexpected(plan.error());
  return measure(a, Planned{std::move(*plan), watch.seconds()});
}

Result<Measurement> HostBench::measure(const runtime::PlanMatrix& a, const Planned& planned) try {
  Measurement m = describe(planned, a.format);
  m.attributes = attributes_text(options_.attributes);
  if (options_.predict) predict(a, m);
  if (Status s = run_and_check(a, m); !s) return tl::unexpected(s.error());
  return m;
} catch (const std::bad_alloc&) {
  return fail(Errc::io, fmt::format("out of memory: with -n {} {} need {:.3g} GB", product_.n(),
                                    matrix_names(product_.op()), product_.bytes() / 1e9));
}

}  // namespace sptile::tools
