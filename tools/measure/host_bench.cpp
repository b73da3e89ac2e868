#include "tools/measure/host_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "formats/convert/packed_positions.hpp"
#include "formats/core/csr.hpp"
#include "runtime/plan/choice.hpp"
#include "runtime/plan/product_plan.hpp"
#include "tools/measure/operations.hpp"
#include "tools/measure/random_operands.hpp"
#include "tools/pipeline/stopwatch.hpp"

namespace sptile::tools {
namespace {

constexpr double kSlow = 0.05;  // maximum seconds for the runs of one product

// Returns the list position of each entry in the format.
Result<formats::Array> positions_of_entries(const runtime::PlanMatrix& a, bool trusted) {
  if (trusted && a.value_source.present())
    return formats::inverse_positions(a.value_source.as<std::int64_t>());
  return formats::packed_positions(a.format, a.row_order);
}

}  // namespace

Status HostBench::set_matrix(const formats::CsrView& source, const runtime::DenseTypes& dense) {
  source_ = source;
  dense_ = dense;
  op_ = nullptr;
  reference_.clear();
  return {};
}

Status HostBench::set_operands(const runtime::Operation& op, std::int64_t n) {
  if (&op == op_ && n == n_) return {};
  if (Status s = check_operands_fit(op, source_, n); !s) return s;
  op_ = &op;
  n_ = n;
  made_ = false;
  operands_ = {};
  reference_.clear();
  return {};
}

runtime::OperandShape HostBench::shape_of(const runtime::OperandSpec& spec) const {
  return runtime::shape_of(spec, {source_.rows, source_.cols, source_.nnz(), {n_, n_}});
}

// Called after planning succeeds, because it may take long and most errors are found by then.
void HostBench::make_operands() {
  if (made_) return;
  for (std::size_t i = 0; i < op_->operands.size(); ++i) {
    const runtime::OperandSpec& spec = op_->operands[i];
    if (is_left_out(spec)) continue;
    const auto [rows, width] = shape_of(spec);
    const DType type = type_of(spec, dense_);
    operands_[i] = spec.result ? formats::Array(type, std::max<std::int64_t>(rows, 1) * width)
                               : random_dense(rows, width, type, session_.seed + i);
  }
  made_ = true;
}

// Operands with one row per row of A start at `row`.
runtime::Operands HostBench::operands_from(std::int64_t row) {
  runtime::Operands operands;
  for (std::size_t i = 0; i < op_->operands.size(); ++i) {
    const std::int64_t width = shape_of(op_->operands[i]).width;
    operands.dense[i].ld = width;
    if (is_left_out(op_->operands[i])) continue;
    const std::int64_t before = op_->operands[i].extent == runtime::Extent::rows ? row * width : 0;
    auto* const data = static_cast<std::byte*>(operands_[i].data());
    const std::size_t element = size_of(type_of(op_->operands[i], dense_));
    operands.dense[i] = {data + static_cast<std::size_t>(before) * element, width};
  }
  return operands;
}

// Runs one by one on the CPU, so that progress counts them, and all at once on a device.
Result<std::vector<double>> HostBench::counted_run(const runtime::ProductPlan& plan, int warmup, int repeat) {
  if (plan.on_device) return runtime::timed_run(plan, *op_, operands_from(0), warmup, repeat);
  begin(&session_.progress, "run", warmup + repeat);
  std::vector<double> seconds;
  for (int i = -warmup; i < repeat; ++i) {
    const auto one = runtime::timed_run(plan, *op_, operands_from(0), 0, 1);
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

Result<double> HostBench::error(const runtime::PlanMatrix& a) {
  formats::CsrView exact = source_;
  formats::Array rounded, packed;
  const DType values = a.format.value_dtype();
  if (op_->uses_values && !exact.is_pattern() && exact.values.dtype != values) {
    rounded = formats::convert_values(exact.values, values);
    exact.values = rounded.view();
  }
  if (has_entry_lists(*op_)) {
    auto positions = positions_of_entries(a, options_.trusted);
    if (!positions) return tl::unexpected(positions.error());
    packed = std::move(*positions);
  }
  const auto positions =
      packed.present() ? packed.view().as<std::int64_t>() : std::span<const std::int64_t>();
  return reference_.error(
      *op_, {.a = exact, .n = n_, .types = dense_, .packed = positions},
      [this](std::int64_t row) { return operands_from(row); }, options_.check, &session_.progress);
}

Status HostBench::run_and_check(const runtime::PlanMatrix& a, Measurement& m) {
  make_operands();
  for (std::size_t i = 0; i < op_->operands.size(); ++i)
    if (op_->operands[i].result && !is_left_out(op_->operands[i]))
      // fills with NaN
      std::memset(operands_[i].data(), 0xFF, static_cast<std::size_t>(operands_[i].view().bytes()));
  begin(&session_.progress, "run", 0);
  const auto seconds = time(*m.plan);
  if (!seconds) return tl::unexpected(seconds.error());
  m.repeat = seconds->count;
  set_times(m, *seconds, source_.nnz());
  if (options_.check == CheckedRows::none) return {};
  const auto rel_err = error(a);
  if (!rel_err) return tl::unexpected(rel_err.error());
  m.checked = true;
  m.rel_err = *rel_err;
  return {};
}

runtime::PlanOptions HostBench::plan_options(const KernelRequest& request) const {
  runtime::PlanOptions options;
  options.n = n_;
  options.dense = dense_.operands;
  options.result = dense_.result;
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
  auto plan = runtime::plan_product(*op_, a, plan_options(request));
  if (!plan) return tl::unexpected(plan.error());
  return measure(a, Planned{std::move(*plan), watch.seconds()});
}

Result<Measurement> HostBench::measure(const runtime::PlanMatrix& a, const Planned& planned) try {
  Measurement m = describe(planned, a.format);
  if (options_.predict) predict(a, m);
  if (Status s = run_and_check(a, m); !s) return tl::unexpected(s.error());
  return m;
} catch (const std::bad_alloc&) {
  double bytes = 0;
  for (const runtime::OperandSpec& spec : op_->operands) {
    const auto [rows, width] = shape_of(spec);
    bytes += static_cast<double>(rows) * static_cast<double>(width) *
             static_cast<double>(size_of(type_of(spec, dense_)));
  }
  return fail(Errc::io, fmt::format("out of memory: with -n {} {} need {:.3g} GB", n_, matrix_names(*op_),
                                    bytes / 1e9));
}

}  // namespace sptile::tools
