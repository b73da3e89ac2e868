#include "tools/measure/benchmark.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "runtime/kernels/kernels.hpp"
#include "tools/cli/json.hpp"
#include "tools/cli/version.hpp"
#include "tools/measure/bench_rows.hpp"
#include "tools/measure/operations.hpp"
#include "tools/measure/random_operands.hpp"
#include "tools/pipeline/devices.hpp"
#include "tools/pipeline/input.hpp"
#include "tools/pipeline/units.hpp"

namespace sptile::tools {
namespace {
std::string yardstick_key(const TypedMatrix& matrix, std::int64_t n) {
  return fmt::format("{} {}", matrix.label(), n);
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}
}  // namespace

std::vector<std::string> Benchmark::kernels_of(const FormatChoice& format) const {
  if (task_.kernel != "all" && task_.kernels.empty()) return {task_.kernel};
  const auto wanted = [&](const runtime::Kernel& kernel) {
    return task_.kernels.empty() ? runtime::available(kernel)
                                 : std::ranges::count(task_.kernels, kernel.name) > 0;
  };
  std::vector<std::string> names;
  if (std::ranges::count(task_.kernels, "") > 0) names.emplace_back();
  for (const runtime::Kernel& kernel : runtime::kernels())
    if (kernel.op == task_.op && kernel.format == format.converter->format && kernel.device == task_.device &&
        wanted(kernel))
      names.emplace_back(kernel.name);
  return names;
}

// Counts rows for one N, ordering, precision and matrix.
std::int64_t Benchmark::rows_of_format(const FormatChoice& format) const {
  return std::ssize(kernels_of(format));
}

std::int64_t Benchmark::rows_of_matrix() const {
  std::int64_t formats = 0;
  for (const FormatChoice& format : task_.formats) formats += rows_of_format(format);
  return formats *
         static_cast<std::int64_t>(task_.orderings.size() * task_.precisions.size() * task_.columns.size());
}

// Sets the number of remaining rows for the progress.
void Benchmark::expect_rows(std::int64_t rows) {
  expected_ = rows;
  session_.progress.steps = session_.progress.steps_done + rows;
}

Json Benchmark::key_of(const TypedMatrix& matrix) const {
  const formats::CsrView& a = matrix.source;
  const bool on_cpu = task_.device == runtime::Device::cpu;  // on a device the launch latency dominates
  return {{"matrix", matrix.name},
          {"content", matrix.content},
          {"version", version()},
          {"host", host_name()},
          {"wanted_warmup", on_cpu ? Json(task_.repeats.warmup) : Json(nullptr)},
          {"wanted_repeat", on_cpu ? Json(task_.repeats.repeat) : Json(nullptr)},
          {"wanted_check", task_.check},
          {"rows", a.rows},
          {"cols", a.cols},
          {"nnz", a.nnz()},
          {"values", random_ ? "random" : "file"},
          {"device", name_of(task_.device)},
          {"op", operation_label(*task_.op, attributes_text(task_.attributes))},
          {"wanted_dtype", matrix.dense},
          {"value_dtype", dtype_label(a.values.dtype)},
          {"result_dtype", name_of(matrix.dense_types().result)},
          {"flush_l2", task_.flush_l2},
          {"graph", task_.graph},
          {"threads", session_.common.threads},
          {"seed", session_.seed}};
}

// Adds a row that was measured before. Returns false if there is none.
bool Benchmark::reuse_row(const Json& key) {
  const Json* const done = log_.find(key);
  if (done == nullptr) return false;
  Json row = *done;
  row.update(key);  // the row may come from another file, and its unidentifying keys from another selection
  show(std::move(row));
  ++resumed_;
  return true;
}

// Prints each error for a nonexistent combination once; returns other errors.
Status Benchmark::skip(const Error& error) {
  const bool absent = error.code == Errc::unsupported ||
                      (error.code == Errc::usage && !(task_.kernel.empty() && task_.kernels.empty()));
  if (!absent) return tl::unexpected(error);
  if (noted_.insert(error.text()).second) session_.note("left out: " + error.text());
  if (left_out_) left_out_ = tl::unexpected(error);
  return {};
}

Status Benchmark::prepare(const TypedMatrix& matrix, std::int64_t n) {
  const bool opened = bench_->facts().has_value();
  if (prepared_ != matrix.label()) {
    prepared_.clear();
    if (Status s = bench_->set_matrix(matrix.source, matrix.dense_types()); !s) return s;
    prepared_ = matrix.label();
  }
  if (const auto facts = bench_->facts(); facts && !opened)
    session_.note(fmt::format("{}: copies at {:.0f} GB/s, L2 cache at {:.0f} GB/s", facts->name,
                              facts->ceilings.copy * 1e-9, facts->ceilings.l2 * 1e-9));
  return bench_->set_operands(*task_.op, n);
}

template <class Measure>
Result<Measurement> Benchmark::measure(const TypedMatrix& matrix, std::int64_t n, Measure one) {
  if (Status s = prepare(matrix, n); !s) return tl::unexpected(std::move(s.error()));
  return one();
}

Status Benchmark::keep(Json row, const Measurement& measured) {
  if (const Status s = check_outcome(measured); !s) session_.note(s.error().text());
  const Json label = row["format"];
  row.update(to_json(measured));
  row["format"] = label;  // including its parameter
  complete_row(row);
  if (log_status_ = log_.append(row); !log_status_) return log_status_;
  session_.detail(fmt::format("{} {} {} N={} {}: {}", std::string(row["matrix"]), std::string(row["reorder"]),
                              measured.kernel, measured.n, measured.precision,
                              human_seconds(measured.median_us * 1e-6)));
  session_.progress.steps_done += 1;
  show(std::move(row));
  return {};
}

void Benchmark::show(Json row) {
  if (task_.observe) task_.observe(row);
  rows_.push_back(std::move(row));
}

// Measures the kernels of other libraries once per matrix, types and N, because they use the original order.
Status Benchmark::bench_yardsticks(const TypedMatrix& matrix, std::int64_t n) {
  const bool comparable = task_.cusparse && attributes_text(task_.attributes).empty();
  const auto yardsticks = comparable ? bench_->yardsticks(*task_.op, n) : std::vector<std::string_view>();
  if (yardsticks.empty()) return {};
  const auto [best, is_new] = yardstick_us_.try_emplace(yardstick_key(matrix, n), HUGE_VAL);
  if (!is_new) return {};
  for (const std::string_view name : yardsticks) {
    Json key = key_of(matrix);
    key.update({{"reorder", "identity"},
                {"window_rows", nullptr},
                {"format", "csr"},
                {"wanted_kernel", name},
                {"n", n},
                {"wanted_precision", ""}});
    if (!wants(key)) continue;
    if (!reuse_row(key)) {
      const auto measured = measure(matrix, n, [&] { return bench_->measure_yardstick(name); });
      if (!measured) {
        if (Status s = skip(measured.error()); !s) return s;
        continue;
      }
      if (Status s = keep(key, *measured); !s) return s;
    }
    best->second = std::min(best->second, rows_.back()["median_us"].get<double>());
  }
  return {};
}

Status Benchmark::bench_format(const TypedMatrix& matrix, BenchConversions& conversions, std::size_t format,
                               Json key) {
  const std::int64_t n = key["n"];
  std::int64_t expected = expected_;
  key["format"] = task_.formats[format].label;
  for (const std::string& kernel : kernels_of(task_.formats[format]))
    for (const PrecisionChoice& precision : matrix.precisions) {
      expect_rows(expected--);
      key.update({{"wanted_kernel", kernel}, {"wanted_precision", precision.name}});
      if (!wants(key) || reuse_row(key)) continue;
      const auto converted = conversions.get(format);
      if (!converted) return skip(converted.error());
      const auto measured = measure(matrix, n, [&] {
        return bench_->measure(conversions.matrix(**converted), {kernel, precision_named(precision.name)});
      });
      if (!measured) {
        if (Status s = skip(measured.error()); !s) return s;
        continue;
      }
      Json row = key;
      row.update(conversions.ordered().facts());
      row["convert_us"] = (*converted)->us;
      if (const auto best = yardstick_us_.find(yardstick_key(matrix, n));
          best != yardstick_us_.end() && best->second < HUGE_VAL)
        row["over_cusparse"] = best->second / measured->median_us;
      // Wrong results are an error only for kernels of sptile; others may be inaccurate (some sum f16
      // products in f16).
      if (Status s = check_outcome(*measured); !s && worst_) worst_ = std::move(s);
      if (Status s = keep(std::move(row), *measured); !s) return s;
    }
  return {};
}

Status Benchmark::bench_types(const TypedMatrix& matrix, OrderedMatrix& ordered) {
  // On a device, numbers are compared in the order of the format.
  const bool with_source = task_.check && has_entry_lists(*task_.op) && task_.device == runtime::Device::cuda;
  BenchConversions conversions(session_, task_.formats, ordered, matrix.values, with_source);
  Json key = key_of(matrix);
  key.update({{"reorder", ordered.ordering().label()}, {"window_rows", ordered.ordering().window_rows}});
  for (const std::int64_t n : task_.columns) {
    key["n"] = n;
    if (Status s = bench_yardsticks(matrix, n); !s) return s;
    for (std::size_t i = 0; i < task_.formats.size(); ++i) {
      const std::int64_t expected =
          expected_ - rows_of_format(task_.formats[i]) * std::ssize(matrix.precisions);
      if (Status s = bench_format(matrix, conversions, i, key); !s) return s;
      expect_rows(expected);
    }
  }
  return {};
}

Status Benchmark::bench_matrix(const std::string& path) {
  const DType type = common_type(task_.precisions);
  auto loaded = load_matrix(session_, path, task_.input.load(type));
  if (!loaded) return tl::unexpected(std::move(loaded.error()));
  formats::Csr& a = loaded->csr;
  random_ = task_.random_values || (task_.random_patterns && a.view().is_pattern());
  if (random_) a.values = random_values(a.view(), type, session_.seed);
  prepared_.clear();
  yardstick_us_.clear();
  const std::vector<TypedMatrix> typed = with_types(loaded->name, a.view(), task_.precisions);
  for (const Ordering& ordering : task_.orderings) {
    OrderedMatrix ordered(ordering, a.view());
    for (const TypedMatrix& matrix : typed)
      if (Status s = bench_types(matrix, ordered); !s) return s;
  }
  return {};
}

Status Benchmark::try_matrix(const std::string& path) try {
  return bench_matrix(path);
} catch (const std::bad_alloc&) {
  return fail(Errc::io, "out of memory", path);
}

void Benchmark::note_failure(const std::string& path, const Error& error) {
  failed_.push_back({path, error});
  if (task_.inputs.size() > 1) session_.warn(error.text());  // the error of a single input is the outcome
}

// Returns the inputs whose headers are valid.
std::vector<std::string> Benchmark::probe_inputs() {
  std::vector<std::string> good;
  for (const std::string& path : task_.inputs) {
    if (const Status s = probe_matrix(path, task_.input.load(DType::f32)); s)
      good.push_back(path);
    else
      note_failure(path, s.error());
  }
  return good;
}

Status Benchmark::run() {
  const std::vector<std::string> inputs = probe_inputs();
  std::int64_t matrices = std::ssize(inputs);
  for (const std::string& path : inputs) {
    expect_rows(matrices-- * rows_of_matrix());
    const Status s = try_matrix(path);
    if (!log_status_) return log_status_;
    if (!s) note_failure(path, s.error());
  }
  return {};
}

Status not_measured(std::span<const FailedInput> failed, std::int64_t inputs) {
  if (inputs == 1) return tl::unexpected(failed.front().error);
  std::vector<std::string_view> paths;
  for (const FailedInput& input : failed) paths.push_back(input.path);
  return fail(failed.front().error.code, fmt::format("{} of {} matrices were not measured: {}", paths.size(),
                                                     inputs, fmt::join(paths, ", ")));
}

Status Benchmark::outcome() const {
  if (!worst_) return worst_;
  if (failed_.empty()) return rows_.empty() ? left_out_ : Status();
  return not_measured(failed_, std::ssize(task_.inputs));
}

}  // namespace sptile::tools
