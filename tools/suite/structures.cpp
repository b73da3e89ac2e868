#include "tools/suite/structures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "reorder/quality/quality.hpp"
#include "tools/cli/json.hpp"
#include "tools/cli/table.hpp"
#include "tools/pipeline/input.hpp"
#include "tools/stats/format_sizes.hpp"
#include "tools/stats/line_lengths.hpp"
#include "tools/stats/quality_report.hpp"

namespace sptile::tools {
namespace {

/// A matrix in a row order.
struct Ordered {
  formats::CsrView matrix;
  Ordering ordering;
};

// Returns a quantity of an element of `formats[]`, or of its tensor_cores; null if it has none.
Json quantity_in(const Json& facts, std::string_view name) {
  const std::string key(name);
  if (facts.contains(key)) return facts[key];
  if (facts.contains("tensor_cores") && facts["tensor_cores"].contains(key))
    return facts["tensor_cores"][key];
  return nullptr;
}

Json new_row(const Suite& suite, const Structure& structure, const LoadedMatrix& loaded,
             const Ordered& ordered) {
  const formats::CsrView& a = ordered.matrix;
  return {{"suite", suite.name},
          {"experiment", structure.name},
          {"matrix", loaded.name},
          {"rows", a.rows},
          {"cols", a.cols},
          {"nnz", a.nnz()},
          {"reorder", ordered.ordering.label()},
          {"window_rows", ordered.ordering.window_rows}};
}

// Returns the sizes of the formats, as in the JSON of `stats`.
Result<Json> measure_listed(Session& session, const Structure& structure, const formats::CsrView& a) {
  std::vector<FormatRow> rows = comparison_rows(a);
  const auto compared = std::ssize(rows);
  for (const std::string_view name : structure.formats) {
    const auto formats = parse_formats(name);
    if (!formats) return tl::unexpected(formats.error());
    auto row = measure_format(session, a, formats->front());
    if (!row) return tl::unexpected(std::move(row.error()));
    rows.push_back(std::move(*row));
  }
  Json list = to_json(rows);
  if (!structure.compared) list.erase(list.begin(), list.begin() + compared);
  return list;
}

// Returns the quantities of a row order: of its rows, and of its windows.
Json order_facts(const Ordered& ordered) {
  const formats::CsrView& a = ordered.matrix;
  Json facts = to_json(measure_lengths(row_lengths(a), a.rows));
  const reorder::WindowQuality windows = reorder::measure_windows(a, {}, ordered.ordering.window_rows);
  facts.update(to_json(std::span(&windows, 1)).front());
  return facts;
}

Status measure_structure(Session& session, const Suite& suite, const Structure& structure,
                         const LoadedMatrix& loaded, const Ordered& ordered, std::vector<Json>& rows) {
  const auto add = [&](const Json& format, const Json& facts) {
    Json row = new_row(suite, structure, loaded, ordered);
    row["format"] = format;
    for (const std::string_view name : structure.quantities)
      row[std::string(name)] = quantity_in(facts, name);
    rows.push_back(std::move(row));
  };
  if (structure.formats.empty()) {
    add(nullptr, order_facts(ordered));
    return {};
  }
  const auto formats = measure_listed(session, structure, ordered.matrix);
  if (!formats) return tl::unexpected(formats.error());
  for (const Json& facts : *formats) add(facts["name"], facts);
  return {};
}

/// A row order that structures need.
struct NeededOrder {
  std::string_view order;
  int window_rows;
  bool operator==(const NeededOrder&) const = default;
};

std::vector<NeededOrder> orders_of(const SuitePlan& plan) {
  std::vector<NeededOrder> orders;
  for (const Structure* structure : plan.structures)
    for (const std::string_view order : structure->orders) {
      const NeededOrder needed{order, structure->window_rows};
      if (std::ranges::count(orders, needed) == 0) orders.push_back(needed);
    }
  return orders;
}

/// Sums of one row order and format.
struct Line {
  Json reorder, format;
  std::vector<const Json*> rows;
};

bool is_of(const Json& row, const Structure& structure) { return row["experiment"] == structure.name; }

std::vector<Line> lines_of(const Structure& structure, std::span<const Json> rows) {
  std::vector<Line> lines;
  for (const std::string_view order : structure.orders)
    if (const auto ordering = parse_order(order, structure.window_rows))
      for (const Json& row : rows) {
        if (!is_of(row, structure) || row["reorder"] != ordering->label()) continue;
        const auto known = std::ranges::find_if(lines, [&](const Line& line) {
          return line.reorder == row["reorder"] && line.format == row["format"];
        });
        Line& line =
            known != lines.end() ? *known : lines.emplace_back(Line{row["reorder"], row["format"], {}});
        line.rows.push_back(&row);
      }
  return lines;
}

std::optional<double> number_in(const Json& row, const std::string& key) {
  return row[key].is_number() ? std::optional<double>(row[key].get<double>()) : std::nullopt;
}

// Returns the value of the same matrix in another line.
std::optional<double> same_matrix(const Line& line, const Json& row, const std::string& key) {
  for (const Json* other : line.rows)
    if ((*other)["matrix"] == row["matrix"]) return number_in(*other, key);
  return std::nullopt;
}

Json quantity_of(const Line& line, const Line& first, const std::string& key) {
  double sum = 0, log_sum = 0;
  std::int64_t count = 0, ratios = 0;
  for (const Json* row : line.rows) {
    const auto value = number_in(*row, key), base = same_matrix(first, *row, key);
    if (!value) continue;
    sum += *value;
    ++count;
    if (!base || !(*base > 0) || !(*value > 0)) continue;
    log_sum += std::log(*value / *base);
    ++ratios;
  }
  const auto over = [](double total, std::int64_t n) {
    return n > 0 ? Json(total / static_cast<double>(n)) : Json();
  };
  return {{"mean", over(sum, count)},
          {"over_first", ratios > 0 ? Json(std::exp(log_sum / static_cast<double>(ratios))) : Json()}};
}

std::string quantity_text(const Json& quantity) {
  if (quantity["mean"].is_null()) return "-";
  const std::string mean = fmt::format("{:.4g}", quantity["mean"].get<double>());
  return quantity["over_first"].is_null()
             ? mean
             : fmt::format("{} ({:.3f})", mean, quantity["over_first"].get<double>());
}

}  // namespace

Result<std::vector<Json>> measure_structures(Session& session, const SuitePlan& plan, const std::string& path,
                                             const InputOptions& input) {
  const auto loaded = load_matrix(session, path, input.load(DType::f32));
  if (!loaded) return tl::unexpected(loaded.error());
  std::vector<Json> rows;
  for (const NeededOrder& needed : orders_of(plan)) {
    auto ordering = parse_order(needed.order, needed.window_rows);
    if (!ordering) return tl::unexpected(std::move(ordering.error()));
    const auto order = compute_order(session, *ordering, loaded->csr.view());
    if (!order) return tl::unexpected(order.error());
    formats::Csr permuted;
    if (!order->empty()) permuted = formats::permute_rows(loaded->csr.view(), *order);
    const Ordered ordered{order->empty() ? loaded->csr.view() : permuted.view(), std::move(*ordering)};
    for (const Structure* structure : plan.structures) {
      if (structure->window_rows != needed.window_rows ||
          std::ranges::count(structure->orders, needed.order) == 0)
        continue;
      if (Status s = measure_structure(session, *plan.suite, *structure, *loaded, ordered, rows); !s)
        return tl::unexpected(std::move(s.error()));
    }
  }
  return rows;
}

Json summarize_structures(const SuitePlan& plan, std::span<const Json> rows) {
  Json summary = Json::array();
  for (const Structure* structure : plan.structures) {
    Json one = {{"suite", plan.suite->name}, {"experiment", structure->name}, {"title", structure->title}};
    one["lines"] = Json::array();
    const std::vector<Line> lines = lines_of(*structure, rows);
    for (const Line& line : lines) {
      Json json = {{"reorder", line.reorder}, {"format", line.format}, {"matrices", line.rows.size()}};
      for (const std::string_view name : structure->quantities) {
        const std::string key(name);
        json["quantities"][key] = quantity_of(line, lines.front(), key);
      }
      one["lines"].push_back(std::move(json));
    }
    summary.push_back(std::move(one));
  }
  return summary;
}

std::string structures_text(const Json& summary) {
  std::string text;
  for (const Json& one : summary) {
    text += fmt::format("\n{} {}: {}; mean of the matrices (geometric mean over the first line)\n",
                        one["suite"].get<std::string>(), one["experiment"].get<std::string>(),
                        one["title"].get<std::string>());
    if (one["lines"].empty()) {
      text += "not measured\n";
      continue;
    }
    std::vector<std::vector<std::string>> table = {{"reorder", "format", "matrices"}};
    for (const auto& [name, quantity] : one["lines"].front()["quantities"].items())
      table.front().push_back(name);
    for (const Json& line : one["lines"]) {
      const Json& format = line["format"];
      table.push_back({line["reorder"].get<std::string>(), format.is_null() ? "-" : format.get<std::string>(),
                       json_text(line["matrices"])});
      for (const Json& quantity : line["quantities"]) table.back().push_back(quantity_text(quantity));
    }
    text += format_table(table, "ll" + std::string(table.front().size() - 2, 'r'));
  }
  return text;
}

}  // namespace sptile::tools
