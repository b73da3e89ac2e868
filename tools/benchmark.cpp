#include "tools/benchmark.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <optional>

#include "formats/convert/packed_positions.hpp"
#include "runtime/kernels/kernels.hpp"
#include "tools/bench_rows.hpp"
#include "tools/devices.hpp"
#include "tools/input.hpp"
#include "tools/json.hpp"
#include "tools/random_operands.hpp"
#include "tools/stopwatch.hpp"
#include "tools/units.hpp"
#include "tools/version.hpp"

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

class Benchmark::Conversions {
 public:
  struct Converted {
    formats::FormatData data;
    double us;
    formats::Array value_source;  // see PlanMatrix; where the device compares what is in the format's order
  };

  Conversions(Session& session, const BenchTask& task, OrderedMatrix& ordered, DType values)
      : session_(session), task_(task), ordered_(ordered), values_(values), converted_(task.formats.size()) {}

  [[nodiscard]] const OrderedMatrix& ordered() const { return ordered_; }

  Result<const Converted*> get(std::size_t format) {
    if (!converted_[format]) {
      if (Status s = ordered_.compute(session_); !s) return tl::unexpected(std::move(s.error()));
      if (!ready_) view_ = ordered_.view(values_, storage_);
      ready_ = true;
      const Stopwatch watch;
      auto data = task_.formats[format].conversion()(view_, &session_.progress);
      if (!data) return tl::unexpected(std::move(data.error()));
      converted_[format] = Converted{std::move(*data), watch.seconds() * 1e6, {}};
      if (task_.check && task_.request.op == "sddmm" && task_.request.device == "cuda")
        if (Status s = find_value_source(*converted_[format]); !s)
          return tl::unexpected(std::move(s.error()));
    }
    return &*converted_[format];
  }

 private:
  Status find_value_source(Converted& converted) const {
    auto entries = formats::packed_entries(converted.data.view(), ordered_.order());
    if (!entries) return tl::unexpected(std::move(entries.error()));
    converted.value_source = std::move(*entries);
    return {};
  }

  Session& session_;
  const BenchTask& task_;
  OrderedMatrix& ordered_;
  DType values_;
  bool ready_ = false;
  formats::Array storage_;
  formats::CsrView view_;
  std::vector<std::optional<Converted>> converted_;  // by place in the task's formats
};

std::vector<std::string> Benchmark::kernels_of(const FormatChoice& format) const {
  if (task_.request.kernel != "all") return {task_.request.kernel};
  std::vector<std::string> names;
  for (const runtime::Kernel& kernel : runtime::kernels())
    if (kernel.op == task_.request.op && kernel.format == format.converter->format &&
        name_of(kernel.device) == task_.request.device && runtime::available(kernel))
      names.emplace_back(kernel.name);
  return names;
}

Json Benchmark::key_of(const TypedMatrix& matrix) const {
  const formats::CsrView& a = matrix.source;
  const bool on_cpu = task_.request.device == "cpu";  // on a device the time of a launch decides
  return {{"matrix", matrix.name},
          {"content", matrix.content},
          {"version", version()},
          {"host", host_name()},
          {"wanted_warmup", on_cpu ? Json(task_.request.warmup) : Json(nullptr)},
          {"wanted_repeat", on_cpu ? Json(task_.request.repeat) : Json(nullptr)},
          {"wanted_check", task_.check},
          {"rows", a.rows},
          {"cols", a.cols},
          {"nnz", a.nnz()},
          {"values", task_.random_values ? "random" : "file"},
          {"device", task_.request.device},
          {"op", task_.request.op},
          {"wanted_dtype", matrix.dense},
          {"value_dtype", dtype_label(a.values.dtype)},
          {"flush_l2", task_.flush_l2},
          {"threads", session_.common.threads},
          {"seed", session_.common.seed}};
}

// True when a row was measured before; it is then among the rows.
bool Benchmark::take_over(const Json& key) {
  const Json* const done = log_.find(key);
  if (done == nullptr) return false;
  Json row = *done;
  row["matrix"] = key["matrix"];  // it may have come from another file
  show(std::move(row));
  ++resumed_;
  return true;
}

// Errors that say that a combination does not exist are noted, each once; others are given back.
Status Benchmark::leave_out(const Error& error) {
  const bool absent =
      error.code == Errc::unsupported || (error.code == Errc::usage && !task_.request.kernel.empty());
  if (!absent) return tl::unexpected(error);
  if (noted_.insert(error.text()).second) session_.note("left out: " + error.text());
  if (left_out_) left_out_ = tl::unexpected(error);
  return {};
}

Status Benchmark::keep(Json row, const Measured& measured) {
  if (const Status s = check_outcome(measured.product); !s) session_.note(s.error().text());
  const Json label = row["format"];
  row.update(to_json(measured.product));
  row["format"] = label;  // with its parameter
  row.update(measured.columns);
  complete_row(row);
  if (log_status_ = log_.append(row); !log_status_) return log_status_;
  session_.detail(fmt::format("{} {} {} N={} {}: {}", std::string(row["matrix"]), std::string(row["reorder"]),
                              measured.product.kernel, measured.product.n, measured.product.precision,
                              human_seconds(measured.product.median_us * 1e-6)));
  show(std::move(row));
  return {};
}

void Benchmark::show(Json row) {
  if (task_.observe) task_.observe(row);
  rows_.push_back(std::move(row));
}

// They take the rows as they stand, whatever the ordering: once for each matrix, types and N.
Status Benchmark::bench_yardsticks(const TypedMatrix& matrix, std::int64_t n) {
  const std::string& op = task_.request.op;
  if (!task_.cusparse || measurer_->yardsticks(op).empty()) return {};
  const auto [best, is_new] = yardstick_us_.try_emplace(yardstick_key(matrix, n), HUGE_VAL);
  if (!is_new) return {};
  for (const std::string_view name : measurer_->yardsticks(op)) {
    Json key = key_of(matrix);
    key.update({{"reorder", "identity"},
                {"window_rows", nullptr},
                {"format", "csr"},
                {"wanted_kernel", name},
                {"n", n},
                {"wanted_precision", ""}});
    if (!take_over(key)) {
      const auto measured = measurer_->measure_yardstick(matrix, op, name, n);
      if (!measured) {
        if (Status s = leave_out(measured.error()); !s) return s;
        continue;
      }
      if (Status s = keep(key, *measured); !s) return s;
    }
    best->second = std::min(best->second, rows_.back()["median_us"].get<double>());
  }
  return {};
}

Status Benchmark::bench_format(const TypedMatrix& matrix, Conversions& conversions, std::size_t format,
                               Json key) {
  key["format"] = task_.formats[format].label;
  for (const std::string& kernel : kernels_of(task_.formats[format]))
    for (const PrecisionChoice& precision : matrix.precisions) {
      key.update({{"wanted_kernel", kernel}, {"wanted_precision", precision.name}});
      if (take_over(key)) continue;
      const auto converted = conversions.get(format);
      if (!converted) return leave_out(converted.error());
      ProductRequest request = task_.request;
      request.n = key["n"];
      request.kernel = kernel;
      request.precision = precision.name;
      request.dense = matrix.dense;
      request.check = task_.check;
      const auto measured = measurer_->measure(matrix,
                                               {(*converted)->data.view(), conversions.ordered().order(),
                                                (*converted)->value_source.view(), nullptr},
                                               request);
      if (!measured) {
        if (Status s = leave_out(measured.error()); !s) return s;
        continue;
      }
      Json row = key;
      row.update(conversions.ordered().facts());
      row["convert_us"] = (*converted)->us;
      if (const auto best = yardstick_us_.find(yardstick_key(matrix, request.n));
          best != yardstick_us_.end() && best->second < HUGE_VAL)
        row["over_cusparse"] = best->second / measured->product.median_us;
      // A yardstick may be as wrong as it likes (some sum f16 products in f16); our kernels may not.
      if (Status s = check_outcome(measured->product); !s && worst_) worst_ = std::move(s);
      if (Status s = keep(std::move(row), *measured); !s) return s;
    }
  return {};
}

Status Benchmark::bench_types(const TypedMatrix& matrix, OrderedMatrix& ordered) {
  Conversions conversions(session_, task_, ordered, matrix.values);
  Json key = key_of(matrix);
  key.update({{"reorder", ordered.ordering().label()}, {"window_rows", ordered.ordering().window_rows}});
  for (const std::int64_t n : task_.columns) {
    key["n"] = n;
    if (Status s = bench_yardsticks(matrix, n); !s) return s;
    for (std::size_t i = 0; i < task_.formats.size(); ++i)
      if (Status s = bench_format(matrix, conversions, i, key); !s) return s;
  }
  return {};
}

Status Benchmark::bench_matrix(const std::string& path) {
  const DType type = common_type(task_.precisions);
  auto loaded = load_matrix(session_, path, {type, task_.real_part, false});
  if (!loaded) return tl::unexpected(std::move(loaded.error()));
  formats::Csr& a = loaded->csr;
  if (task_.random_values) a.values = random_values(a.view(), type, session_.common.seed);
  measurer_->forget();
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
  if (task_.inputs.size() > 1) session_.warn(error.text());  // of a single one the outcome says it
}

// Those that look right.
std::vector<std::string> Benchmark::probe_inputs() {
  std::vector<std::string> good;
  for (const std::string& path : task_.inputs) {
    if (const Status s = probe_matrix(path, task_.real_part); s)
      good.push_back(path);
    else
      note_failure(path, s.error());
  }
  return good;
}

Status Benchmark::run() {
  for (const std::string& path : probe_inputs()) {
    const Status s = try_matrix(path);
    if (!log_status_) return log_status_;
    if (!s) note_failure(path, s.error());
  }
  return {};
}

Status Benchmark::outcome() const {
  if (!worst_) return worst_;
  if (failed_.empty()) return rows_.empty() ? left_out_ : Status();
  if (task_.inputs.size() == 1) return tl::unexpected(failed_.front().error);
  std::vector<std::string_view> paths;
  for (const FailedInput& input : failed_) paths.push_back(input.path);
  return fail(failed_.front().error.code, fmt::format("{} of {} matrices were not measured: {}", paths.size(),
                                                      task_.inputs.size(), fmt::join(paths, ", ")));
}

}  // namespace sptile::tools
