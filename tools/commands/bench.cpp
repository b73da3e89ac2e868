#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "formats/convert/converters.hpp"
#include "formats/layout/csr.hpp"
#include "reorder/quality.hpp"
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
  std::string formats = "all", dtype = "f32", csv;
  OrderRequest orders;  // several methods
  std::vector<std::int64_t> columns = {128};
  bool real_part = false, no_check = false;
  SpmmRequest request;
};

// What a row of the CSV holds. The identifying columns say what was asked for, the others what came out.
constexpr CsvColumn kColumns[] = {
    {"matrix", true, true},        {"rows", false, true},       {"cols", false, true},
    {"nnz", false, true},          {"reorder", true, true},     {"window_rows", false, true},
    {"device", true, true},        {"op", true, true},          {"format", true, true},
    {"wanted_kernel", true, true}, {"n", false, true},          {"wanted_dtype", true, true},
    {"value_dtype", true, true},   {"threads", false, true},    {"seed", false, true},
    {"reorder_us", false, false},  {"tc_blocks", false, false}, {"mean_nnz_tc", false, false},
    {"kernel", true, false},       {"dtype", true, false},      {"precision", true, false},
    {"median_us", false, false},   {"min_us", false, false},    {"spread", false, false},
    {"gflops", false, false},      {"plan_us", false, false},   {"convert_us", false, false},
    {"repeat", false, false},      {"rel_err", false, false},   {"tolerance", false, false},
    {"checked", false, false},
};

class Benchmark {
 public:
  Benchmark(Session& session, const BenchOptions& options, CsvLog log)
      : session_(session), options_(options), log_(std::move(log)) {}

  Status run(const std::vector<std::string>& formats, const std::vector<Ordering>& orderings);

  [[nodiscard]] const Json& rows() const { return rows_; }
  [[nodiscard]] std::int64_t resumed() const { return resumed_; }
  [[nodiscard]] const Status& worst() const { return worst_; }

 private:
  Status bench_matrix(const std::string& path);
  Status bench_order(const formats::CsrView& source, const Ordering& ordering);
  Status bench_format(const formats::CsrView& source, const formats::CsrView& ordered,
                      std::span<const std::int32_t> order, const std::string& format, Json key);
  Status measure_all(const formats::CsrView& source, const runtime::SpmmMatrix& a, Json key,
                     double convert_us);
  [[nodiscard]] Json order_key(const formats::CsrView& source, const Ordering& ordering) const;
  [[nodiscard]] bool is_done(Json key) const;
  [[nodiscard]] bool all_done(Json key);

  Session& session_;
  const BenchOptions& options_;
  CsvLog log_;
  std::vector<std::string> formats_;
  std::vector<Ordering> orderings_;
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

Json Benchmark::order_key(const formats::CsrView& source, const Ordering& ordering) const {
  return {{"matrix", matrix_},
          {"rows", source.rows},
          {"cols", source.cols},
          {"nnz", source.nnz()},
          {"reorder", ordering.label()},
          {"window_rows", ordering.window_rows},
          {"device", options_.request.device},
          {"op", options_.request.op},
          {"wanted_kernel", options_.request.kernel},
          {"wanted_dtype", options_.request.dense},
          {"value_dtype", dtype_label(source.values.dtype)},
          {"threads", session_.common.threads},
          {"seed", session_.common.seed}};
}

// True when nothing is left to measure for an ordering: then it need not be computed.
bool Benchmark::is_done(Json key) const {
  for (const std::string& format : formats_)
    for (const std::int64_t n : options_.columns) {
      key.update({{"format", format}, {"n", n}});
      if (log_.find(key) == nullptr) return false;
    }
  return true;
}

Status Benchmark::bench_order(const formats::CsrView& source, const Ordering& ordering) {
  Json key = order_key(source, ordering);
  std::vector<std::int32_t> order;
  formats::Csr permuted;
  if (!is_done(key)) {
    const Stopwatch watch;
    auto computed = compute_order(session_, ordering, source);
    if (!computed) return tl::unexpected(std::move(computed.error()));
    key["reorder_us"] = watch.seconds() * 1e6;
    order = std::move(*computed);
    const reorder::WindowQuality quality = reorder::measure_windows(source, order, ordering.window_rows);
    key.update({{"tc_blocks", quality.tc_blocks}, {"mean_nnz_tc", quality.mean_nnz_tc}});
    if (!order.empty()) permuted = formats::permute_rows(source, order);
  }
  const formats::CsrView ordered = order.empty() ? source : permuted.view();
  for (const std::string& format : formats_)
    if (Status s = bench_format(source, ordered, order, format, key); !s) return s;
  return {};
}

Status Benchmark::bench_matrix(const std::string& path) {
  auto loaded = load_matrix(session_, path, {dtype_, options_.real_part, false});
  if (!loaded) return tl::unexpected(std::move(loaded.error()));
  matrix_ = loaded->name;
  for (const Ordering& ordering : orderings_)
    if (Status s = bench_order(loaded->csr.view(), ordering); !s) return s;
  return {};
}

Status Benchmark::run(const std::vector<std::string>& formats, const std::vector<Ordering>& orderings) {
  formats_ = formats;
  orderings_ = orderings;
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

// One row for each matrix, N and ordering: what the ordering costs, the windows it makes, and the fastest
// format. The speedup is over the first ordering of the same matrix and N.
Json compare_orders(const Json& rows) {
  Json orders = Json::array();
  for (const Json& row : rows) {
    const auto same = [&](const Json& other, std::initializer_list<const char*> keys) {
      return std::all_of(keys.begin(), keys.end(), [&](const char* key) { return other[key] == row[key]; });
    };
    const auto known = std::find_if(orders.begin(), orders.end(), [&](const Json& o) {
      return same(o, {"matrix", "rows", "cols", "nnz", "n", "reorder"});
    });
    Json& order = known != orders.end() ? *known : orders.emplace_back(Json::object());
    if (!order.empty() && order["median_us"] <= row["median_us"]) continue;
    for (const char* key : {"matrix", "rows", "cols", "nnz", "n", "reorder", "window_rows", "reorder_us",
                            "tc_blocks", "mean_nnz_tc", "format", "median_us"})
      order[key] = row[key];
  }
  for (Json& order : orders) {
    const auto first = std::find_if(orders.begin(), orders.end(), [&](const Json& o) {
      return o["matrix"] == order["matrix"] && o["nnz"] == order["nnz"] && o["n"] == order["n"];
    });
    order["speedup"] = (*first)["median_us"].get<double>() / order["median_us"].get<double>();
  }
  return orders;
}

std::string orders_text(const Json& orders) {
  std::vector<std::vector<std::string>> table = {
      {"matrix", "reorder", "time", "tc blocks", "entries/block", "N", "fastest", "median", "speedup"}};
  for (const Json& o : orders)
    table.push_back({o["matrix"], o["reorder"], human_seconds(o["reorder_us"].get<double>() * 1e-6),
                     o["tc_blocks"].dump(), fmt::format("{:.2f}", o["mean_nnz_tc"].get<double>()),
                     o["n"].dump(), o["format"], human_seconds(o["median_us"].get<double>() * 1e-6),
                     fmt::format("{:.2f}", o["speedup"].get<double>())});
  return format_table(table, "llrrrrlrr");
}

Status run_bench(Session& session, const BenchOptions& options) {
  if (const Status s = check_request(options.request); !s) return s;
  const auto formats = parse_names("format", options.formats, format_names());
  if (!formats) return tl::unexpected(formats.error());
  const auto orderings = resolve_orders(options.orders);
  if (!orderings) return tl::unexpected(orderings.error());
  auto log = CsvLog::open(options.csv, kColumns);
  if (!log) return tl::unexpected(std::move(log.error()));
  Benchmark benchmark(session, options, std::move(*log));
  if (Status s = benchmark.run(*formats, *orderings); !s) return s;
  Json json = new_result(session);
  const Json orders = compare_orders(benchmark.rows());
  json.update({{"resumed", benchmark.resumed()}, {"rows", benchmark.rows()}, {"orders", orders}});
  const std::string orders_part = orderings->size() > 1 ? "\n" + orders_text(orders) : "";
  print_result(session, json, bench_text(benchmark.rows(), benchmark.resumed()) + orders_part);
  return benchmark.worst();
}

Action declare_bench(CLI::App& app) {
  auto options = std::make_shared<BenchOptions>();
  app.add_option("IN", options->inputs, "matrices: Matrix Market files or bundles")->required();
  app.add_option("--format", options->formats, "formats: all, or names with commas");
  declare_order(app, options->orders, "--reorder", "orderings: all, or METHOD[:PRESET] with commas");
  app.add_option("-n", options->columns, "columns of B, several with commas")
      ->delimiter(',')
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 31));
  app.add_option("--dtype", options->dtype, "type of the values of the matrix")
      ->check(CLI::IsMember({"f32", "f64", "f16", "bf16"}));
  app.add_option("--csv", options->csv,
                 "file to add rows to; rows that are there already are not measured again")
      ->default_str("none");
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
