#include "tools/measure/bench_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/cli/json.hpp"
#include "tools/cli/table.hpp"
#include "tools/pipeline/units.hpp"

namespace sptile::tools {
namespace {

constexpr CsvColumn kColumns[] = {
    {"matrix", true, false},
    {"content", true, true},
    {"rows", false, true},
    {"cols", false, true},
    {"nnz", false, true},
    {"values", true, true},
    {"version", true, true},
    {"host", true, true},
    {"reorder", true, true},
    {"window_rows", false, true},
    {"device", true, true},
    {"op", true, true},
    {"format", true, true},
    {"wanted_kernel", true, true},
    {"n", false, true},
    {"wanted_dtype", true, true},
    {"value_dtype", true, true},
    {"result_dtype", true, true},
    {"wanted_precision", true, true},
    {"wanted_warmup", false, true},
    {"wanted_repeat", false, true},
    {"wanted_check", false, true},
    {"flush_l2", false, true},
    {"graph", false, true},
    {"threads", false, true},
    {"seed", false, true},
    {"reorder_us", false, false},
    {"tc_blocks", false, false},
    {"mean_nnz_tc", false, false},
    {"kernel", true, false},
    {"dtype", true, false},
    {"precision", true, false},
    {"median_us", false, false},
    {"min_us", false, false},
    {"spread", false, false},
    {"gflops", false, false},
    {"plan_us", false, false},
    {"convert_us", false, false},
    {"repeat", false, false},
    {"rel_err", false, false},
    {"tolerance", false, false},
    {"checked", false, false},
    {"frobenius", false, false},
    {"over_cusparse", false, false},
    {"predicted_us", false, false},
    {"floor_us", false, false},
    {"hbm_bytes", false, false},
    {"hbm_ratio", false, false},
    {"l2_bytes", false, false},
    {"l2_gbps", false, false},
    {"l2_ratio", false, false},
    {"pinned_us", false, false},
};

// Formats a number, or "-" for null.
std::string number(const Json& row, const char* key, fmt::format_string<double> format) {
  return row[key].is_null() ? "-" : fmt::format(format, row[key].get<double>());
}

std::string percent(const Json& row, const char* key) {
  return row[key].is_null() ? "-" : fmt::format("{:.0f}%", 100 * row[key].get<double>());
}

bool on_device(const Json& row) { return row["device"] != "cpu"; }

constexpr std::size_t kNumberWidth = 8, kPercentWidth = 4, kGap = 2;

std::size_t longest(const std::vector<std::string>& labels) {
  std::size_t width = 0;
  for (const std::string& label : labels) width = std::max(width, label.size());
  return width;
}

BenchLabels labels_of(const Json& rows) {
  BenchLabels labels;
  for (const Json& row : rows) {
    labels.matrices.push_back(row["matrix"]);
    labels.orderings.push_back(row["reorder"]);
    labels.formats.push_back(row["format"]);
    labels.kernels.push_back(row["kernel"]);
    labels.columns.push_back(json_text(row["n"]));
    labels.precisions |= row["precision"] != rows.front()["precision"];
    labels.device |= on_device(row);
  }
  return labels;
}

}  // namespace

std::span<const CsvColumn> bench_columns() { return kColumns; }

Status check_bench_rows(std::span<const Json> rows, const std::string& path) {
  for (const Json& row : rows) {
    for (const char* key : {"rows", "cols", "nnz", "n", "median_us", "spread", "gflops"})
      if (!row[key].is_number() || row[key] < 0 || !std::isfinite(row[key].get<double>()))
        return fail(Errc::bad_input, fmt::format("{} is not a valid {}", json_text(row[key]), key), path);
    if (!(row["median_us"] > 0)) return fail(Errc::bad_input, "median_us must be positive", path);
    for (const CsvColumn& column : kColumns) {
      const Json& value = row[std::string(column.key)];
      if (!column.text && !value.is_null() && !value.is_number() && !value.is_boolean())
        return fail(Errc::bad_input, fmt::format("{} is not a valid {}", json_text(value), column.key), path);
    }
  }
  return {};
}

void complete_row(Json& row) {
  Json ordered = Json::object();
  for (const CsvColumn& column : kColumns) {
    const std::string key(column.key);
    ordered[key] = row.contains(key) ? row[key] : Json(nullptr);
  }
  ordered.update(row);
  for (Json& value : ordered)
    if (value.is_string()) value = printable(value.get<std::string>());  // as stored in a CSV file
  row = std::move(ordered);
}

double best_us(const Json& row) {
  return row[row["min_us"].is_null() ? "median_us" : "min_us"].get<double>();
}

bool is_cusparse(const Json& row) { return row["kernel"].get<std::string>().starts_with("cusparse."); }

bool is_operation(const Json& row, std::string_view operation) {
  const auto label = row["op"].get<std::string>();
  return std::string_view(label).substr(0, label.find(' ')) == operation;
}

BenchTable::BenchTable(const BenchLabels& labels, std::optional<int> columns)
    : precisions_(labels.precisions || labels.device),
      device_(labels.device),
      csr_(std::find(labels.formats.begin(), labels.formats.end(), "csr") != labels.formats.end()) {
  const auto add = [this](char alignment, const char* name, std::size_t width) {
    alignment_ += alignment;
    head_.emplace_back(name);
    widths_.push_back(std::max(head_.back().size(), width));
  };
  add('l', "matrix", longest(labels.matrices));
  add('l', "reorder", longest(labels.orderings));
  add('l', "format", longest(labels.formats));
  add('l', "kernel", longest(labels.kernels));
  add('r', "N", longest(labels.columns));
  if (precisions_) add('l', "precision", 0);
  add('r', "min", kNumberWidth);
  add('r', "spread", 0);
  add('r', "GFLOP/s", kNumberWidth);
  add('r', "error", 0);
  if (device_)
    for (const char* name : {"HBM", "L2"}) add('r', name, kPercentWidth);
  if (csr_) add('r', "over csr", 0);
  if (device_) add('r', "over cuSPARSE", 0);
  add('l', "fastest", 0);
  shown_.assign(head_.size(), true);
  if (columns) fit(static_cast<std::size_t>(*columns));
}

BenchTable::BenchTable(const Json& rows, std::optional<int> columns) : BenchTable(labels_of(rows), columns) {}

void BenchTable::fit(std::size_t columns) {
  std::size_t total = 0;
  for (const std::size_t width : widths_) total += width + kGap;
  for (const char* const name :
       {"error", "spread", "GFLOP/s", "HBM", "L2", "reorder", "matrix", "N", "format"}) {
    if (total <= columns + kGap) return;
    const auto at = static_cast<std::size_t>(std::ranges::find(head_, name) - head_.begin());
    if (at == head_.size()) continue;
    shown_[at] = false;
    total -= widths_[at] + kGap;
  }
}

std::string BenchTable::format_shown(const std::vector<std::string>& cells) const {
  std::vector<std::string> shown;
  std::string alignment;
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (!shown_[i]) continue;
    shown.push_back(cells[i]);
    alignment += alignment_[i];
    widths.push_back(widths_[i]);
  }
  return format_line(shown, alignment, widths);
}

std::string BenchTable::head() const { return format_shown(head_); }

std::string BenchTable::line(const Json& row, const RowMarks& marks) const {
  std::vector<std::string> cells = {row["matrix"], row["reorder"], row["format"], row["kernel"],
                                    json_text(row["n"])};
  if (precisions_) cells.push_back(row["precision"]);
  cells.push_back(human_seconds(best_us(row) * 1e-6));
  cells.push_back(percent(row, "spread"));
  cells.push_back(number(row, "gflops", "{:.2f}"));
  cells.push_back(number(row, "rel_err", "{:.1g}"));
  if (device_) {
    cells.push_back(percent(row, "hbm_ratio"));
    cells.push_back(percent(row, "l2_ratio"));
  }
  if (csr_) cells.push_back(marks.over_csr ? fmt::format("{:.2f}", *marks.over_csr) : "-");
  if (device_) cells.push_back(number(row, "over_cusparse", "{:.2f}"));
  const std::string_view rank = marks.noisy ? "noisy" : marks.fastest ? "*" : "";
  cells.push_back(fmt::format("{}{}{}", rank, rank.empty() || !marks.automatic ? "" : " ",
                              marks.automatic ? "auto" : ""));
  return format_shown(cells);
}

Json compare_orders(const Json& rows) {
  Json orders = Json::array();
  for (const Json& row : rows) {
    if (is_cusparse(row) || is_noisy(row)) continue;
    const auto same = [&](const Json& other, std::initializer_list<const char*> keys) {
      return std::all_of(keys.begin(), keys.end(), [&](const char* key) { return other[key] == row[key]; });
    };
    const auto known = std::find_if(orders.begin(), orders.end(), [&](const Json& o) {
      return same(o, {"matrix", "rows", "cols", "nnz", "op", "n", "reorder"});
    });
    Json& order = known != orders.end() ? *known : orders.emplace_back(Json::object());
    if (!order.empty() && best_us(order) <= best_us(row)) continue;
    for (const char* key : {"matrix", "rows", "cols", "nnz", "op", "n", "reorder", "window_rows",
                            "reorder_us", "tc_blocks", "mean_nnz_tc", "format", "median_us", "min_us"})
      order[key] = row[key];
  }
  for (Json& order : orders) {
    const auto first = std::find_if(orders.begin(), orders.end(), [&](const Json& o) {
      return o["matrix"] == order["matrix"] && o["nnz"] == order["nnz"] && o["op"] == order["op"] &&
             o["n"] == order["n"];
    });
    order["speedup"] = best_us(*first) / best_us(order);
  }
  return orders;
}

bool orders_differ(const Json& orders) {
  return std::any_of(orders.begin(), orders.end(),
                     [&](const Json& o) { return o["reorder"] != orders.front()["reorder"]; });
}

std::string orders_text(const Json& orders) {
  std::vector<std::vector<std::string>> table = {
      {"matrix", "reorder", "time", "tc blocks", "entries/block", "N", "fastest", "min", "speedup"}};
  for (const Json& o : orders)
    table.push_back({o["matrix"], o["reorder"], human_seconds(o["reorder_us"].get<double>() * 1e-6),
                     json_text(o["tc_blocks"]), fmt::format("{:.2f}", o["mean_nnz_tc"].get<double>()),
                     json_text(o["n"]), o["format"], human_seconds(best_us(o) * 1e-6),
                     fmt::format("{:.2f}", o["speedup"].get<double>())});
  return format_table(table, "llrrrrlrr");
}

}  // namespace sptile::tools
