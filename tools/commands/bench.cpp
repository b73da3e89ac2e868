#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "formats/convert/converters.hpp"
#include "formats/layout/csr.hpp"
#include "reorder/registry.hpp"
#include "runtime/kernels.hpp"
#include "tools/commands/commands.hpp"
#include "tools/csv_log.hpp"
#include "tools/input.hpp"
#include "tools/measure.hpp"
#include "tools/names.hpp"
#include "tools/order.hpp"
#include "tools/stopwatch.hpp"
#include "tools/table.hpp"
#include "tools/units.hpp"

namespace sptile::tools {
namespace {

struct BenchOptions {
  std::vector<std::string> inputs;
  std::string formats = "all", reorders = "identity", dtype = "f32", csv;
  std::vector<std::int64_t> columns = {128};
  int window_rows = 8;
  bool real_part = false, no_check = false;
  SpmmRequest request;
};

// What a row of the CSV holds. The identifying columns say what was asked for, the others what came out.
constexpr CsvColumn kColumns[] = {
    {"matrix", true, true},    {"rows", false, true},        {"cols", false, true},
    {"nnz", false, true},      {"reorder", true, true},      {"device", true, true},
    {"op", true, true},        {"format", true, true},       {"wanted_kernel", true, true},
    {"n", false, true},        {"wanted_dtype", true, true}, {"value_dtype", true, true},
    {"threads", false, true},  {"seed", false, true},        {"kernel", true, false},
    {"dtype", true, false},    {"precision", true, false},   {"median_us", false, false},
    {"min_us", false, false},  {"spread", false, false},     {"gflops", false, false},
    {"plan_us", false, false}, {"convert_us", false, false}, {"repeat", false, false},
    {"rel_err", false, false}, {"tolerance", false, false},  {"checked", false, false},
};

class Benchmark {
 public:
  Benchmark(Session& session, const BenchOptions& options, CsvLog log)
      : session_(session), options_(options), log_(std::move(log)) {}

  Status run(const std::vector<std::string>& formats, const std::vector<std::string>& reorders);

  [[nodiscard]] const Json& rows() const { return rows_; }
  [[nodiscard]] std::int64_t resumed() const { return resumed_; }
  [[nodiscard]] const Status& worst() const { return worst_; }

 private:
  Status bench_matrix(const std::string& path);
  Status bench_order(const formats::CsrView& source, const std::string& reorder);
  Status bench_format(const formats::CsrView& source, const formats::CsrView& ordered,
                      std::span<const std::int32_t> order, const std::string& format, Json key);
  Status measure_all(const formats::CsrView& source, const runtime::SpmmMatrix& a, Json key,
                     double convert_us);
  [[nodiscard]] bool all_done(Json key);

  Session& session_;
  const BenchOptions& options_;
  CsvLog log_;
  std::vector<std::string> formats_, reorders_;
  std::string matrix_;
  DType dtype_ = DType::f32;
  Json rows_ = Json::array();
  std::int64_t resumed_ = 0;
  Status worst_;  // the first wrong result
};

// True when each N of this combination was measured before; those rows are then taken over.
bool Benchmark::all_done(Json key) {
  std::vector<const Json*> found;
  for (const std::int64_t n : options_.columns) {
    key["n"] = n;
    found.push_back(log_.find(key));
    if (found.back() == nullptr) return false;
  }
  for (const Json* row : found) rows_.push_back(*row);
  resumed_ += static_cast<std::int64_t>(found.size());
  return true;
}

Status Benchmark::measure_all(const formats::CsrView& source, const runtime::SpmmMatrix& a, Json key,
                              double convert_us) {
  for (const std::int64_t n : options_.columns) {
    key["n"] = n;
    if (const Json* done = log_.find(key)) {
      rows_.push_back(*done);
      ++resumed_;
      continue;
    }
    SpmmRequest request = options_.request;
    request.n = n;
    request.check = !options_.no_check;
    const auto measured = measure_spmm(session_, a, source, request);
    if (!measured) return tl::unexpected(measured.error());
    if (Status s = check_outcome(*measured); !s) {
      session_.note(s.error().text());
      if (worst_) worst_ = std::move(s);
    }
    Json row = key;
    row.update(to_json(*measured));
    row["convert_us"] = convert_us;
    if (Status s = log_.append(row); !s) return s;
    session_.detail(fmt::format("{} {} {} N={}: {}", matrix_, std::string(key["reorder"]), measured->kernel,
                                n, human_seconds(measured->median_us * 1e-6)));
    rows_.push_back(std::move(row));
  }
  return {};
}

Status Benchmark::bench_format(const formats::CsrView& source, const formats::CsrView& ordered,
                               std::span<const std::int32_t> order, const std::string& format, Json key) {
  key["format"] = format;
  if (all_done(key)) return {};
  const Stopwatch watch;
  auto data = formats::find_converter(format)->from_csr(ordered, &session_.progress);
  if (!data) return tl::unexpected(std::move(data.error()));
  return measure_all(source, {data->view(), order, {}, nullptr}, std::move(key), watch.seconds() * 1e6);
}

Status Benchmark::bench_order(const formats::CsrView& source, const std::string& reorder) {
  auto order = compute_order(session_, *reorder::find_reorderer(reorder), source, options_.window_rows);
  if (!order) return tl::unexpected(std::move(order.error()));
  const formats::Csr permuted = order->empty() ? formats::Csr{} : formats::permute_rows(source, *order);
  const formats::CsrView ordered = order->empty() ? source : permuted.view();
  const Json key = {{"matrix", matrix_},
                    {"rows", source.rows},
                    {"cols", source.cols},
                    {"nnz", source.nnz()},
                    {"reorder", reorder},
                    {"device", options_.request.device},
                    {"op", options_.request.op},
                    {"wanted_kernel", options_.request.kernel},
                    {"wanted_dtype", options_.request.dense},
                    {"value_dtype", dtype_label(source.values.dtype)},
                    {"threads", session_.common.threads},
                    {"seed", session_.common.seed}};
  for (const std::string& format : formats_)
    if (Status s = bench_format(source, ordered, *order, format, key); !s) return s;
  return {};
}

Status Benchmark::bench_matrix(const std::string& path) {
  auto loaded = load_matrix(session_, path, {dtype_, options_.real_part, false});
  if (!loaded) return tl::unexpected(std::move(loaded.error()));
  matrix_ = loaded->name;
  for (const std::string& reorder : reorders_)
    if (Status s = bench_order(loaded->csr.view(), reorder); !s) return s;
  return {};
}

Status Benchmark::run(const std::vector<std::string>& formats, const std::vector<std::string>& reorders) {
  formats_ = formats;
  reorders_ = reorders;
  dtype_ = *value_dtype_from_name(options_.dtype);
  for (const std::string& path : options_.inputs)
    if (Status s = bench_matrix(path); !s) return s;
  return {};
}

std::string bench_text(const Json& rows, std::int64_t resumed) {
  std::vector<std::vector<std::string>> table = {
      {"matrix", "reorder", "format", "kernel", "N", "median", "spread", "GFLOP/s", "error"}};
  for (const Json& row : rows)
    table.push_back({row["matrix"], row["reorder"], row["format"], row["kernel"], row["n"].dump(),
                     human_seconds(row["median_us"].get<double>() * 1e-6),
                     fmt::format("{:.0f}%", 100 * row["spread"].get<double>()),
                     fmt::format("{:.2f}", row["gflops"].get<double>()),
                     row["rel_err"].is_null() ? "-" : fmt::format("{:.1g}", row["rel_err"].get<double>())});
  const std::string text = format_table(table, "llllrrrrr");
  return resumed == 0 ? text : text + fmt::format("{} rows were measured before\n", resumed);
}

Status run_bench(Session& session, const BenchOptions& options) {
  if (const Status s = check_request(options.request); !s) return s;
  const auto formats = parse_names("format", options.formats, format_names());
  if (!formats) return tl::unexpected(formats.error());
  const auto reorders = parse_names("reorderer", options.reorders, names_of(reorder::reorderers()));
  if (!reorders) return tl::unexpected(reorders.error());
  auto log = CsvLog::open(options.csv, kColumns);
  if (!log) return tl::unexpected(std::move(log.error()));
  Benchmark benchmark(session, options, std::move(*log));
  if (Status s = benchmark.run(*formats, *reorders); !s) return s;
  Json json = new_result(session);
  json.update({{"resumed", benchmark.resumed()}, {"rows", benchmark.rows()}});
  print_result(session, json, bench_text(benchmark.rows(), benchmark.resumed()));
  return benchmark.worst();
}

Action declare_bench(CLI::App& app) {
  auto options = std::make_shared<BenchOptions>();
  app.add_option("IN", options->inputs, "matrices: Matrix Market files or bundles")->required();
  app.add_option("--format", options->formats, "formats: all, or names with commas");
  app.add_option("--reorder", options->reorders, "orderings: all, or names with commas");
  app.add_option("-n", options->columns, "columns of B, several with commas")
      ->delimiter(',')
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 31));
  app.add_option("--dtype", options->dtype, "type of the values of the matrix")
      ->check(CLI::IsMember({"f32", "f64", "f16", "bf16"}));
  app.add_option("--csv", options->csv,
                 "file to add rows to; rows that are there already are not measured again")
      ->default_str("none");
  app.add_option("--window-rows", options->window_rows, "window height that orderings aim at")
      ->check(CLI::Range(1, 1024));
  app.add_flag("--real-part", options->real_part, "take the real part of a complex matrix");
  app.add_flag("--no-check", options->no_check, "do not compare with the reference");
  declare_request(app, options->request);
  return [options](Session& session) { return run_bench(session, *options); };
}
}  // namespace

const Verb kBench = {"bench", "measure formats x orderings x N side by side",
                     "  sptile bench a.mtx b.mtx --reorder identity,degree -n 32,128 --csv results.csv",
                     declare_bench};

}  // namespace sptile::tools
