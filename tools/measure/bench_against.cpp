#include "tools/measure/bench_against.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "tools/cli/json.hpp"
#include "tools/cli/table.hpp"
#include "tools/measure/bench_groups.hpp"
#include "tools/measure/bench_rows.hpp"
#include "tools/pipeline/units.hpp"

namespace sptile::tools {
namespace {

/// A row of the earlier run and the matching row of the new one.
struct Pair {
  const Json *old_row, *new_row;

  [[nodiscard]] double ratio() const {
    return (*new_row)["median_us"].get<double>() / (*old_row)["median_us"].get<double>();
  }
};

// Returns the key of a row, without versions, numbers of runs and host.
std::string key_of(const Json& row) {
  static const std::set<std::string_view> kConditions = {"version",       "host",         "wanted_warmup",
                                                         "wanted_repeat", "wanted_check", "seed"};
  std::string key;
  for (const CsvColumn& column : bench_columns())
    if (column.identifies && kConditions.count(column.key) == 0)
      key += json_text(row[std::string(column.key)]) + "\n";
  return key;
}

// Returns the key of rows that share a reference row.
std::string field_of(const Json& row) {
  std::string key;
  for (const char* column : {"content", "values", "device", "op", "n", "value_dtype", "dtype", "result_dtype",
                             "flush_l2", "graph", "threads"})
    key += json_text(row[column]) + "\n";
  return key;
}

bool is_yardstick(const Pair& pair) {
  const Json &a = *pair.old_row, &b = *pair.new_row;
  return a["kernel"] == b["kernel"] && (is_cusparse(a) || a["format"] == "csr");
}

// Returns whether `a` is preferred: cuSPARSE before csr, then the faster one.
bool is_better(const Pair& a, const Pair& b) {
  const bool vendor = is_cusparse(*a.old_row);
  if (vendor != is_cusparse(*b.old_row)) return vendor;
  return (*a.old_row)["median_us"] < (*b.old_row)["median_us"];
}

Json described(const Pair& pair) {
  Json json = Json::object();
  for (const char* key :
       {"matrix", "reorder", "device", "op", "format", "kernel", "n", "precision", "median_us"})
    json[key] = (*pair.new_row)[key];
  json["old_median_us"] = (*pair.old_row)["median_us"];
  return json;
}

/// Reference row by which times are normalized.
struct Yardstick {
  Json kernel;  ///< null: none
  double ratio = 1, noise = 0;
};

Yardstick yardstick_of(const Pair& pair) {
  return {(*pair.new_row)["kernel"], pair.ratio(), noise_of({pair.old_row, pair.new_row})};
}

// Returns the median of several references, for rows without their own.
Yardstick middle_of(std::vector<Yardstick> yardsticks) {
  if (yardsticks.empty()) return {};
  const auto middle = yardsticks.begin() + std::ssize(yardsticks) / 2;
  std::nth_element(yardsticks.begin(), middle, yardsticks.end(),
                   [](const Yardstick& a, const Yardstick& b) { return a.ratio < b.ratio; });
  const double noise =
      std::max_element(yardsticks.begin(), yardsticks.end(), [](const auto& a, const auto& b) {
        return a.noise < b.noise;
      })->noise;
  return {"all", middle->ratio, noise};
}

Json compared(const Pair& pair, const Yardstick& yardstick) {
  Json json = described(pair);
  const double ratio = pair.ratio() / yardstick.ratio;
  const double noise = std::max(noise_of({pair.old_row, pair.new_row}), yardstick.noise);
  json["ratio"] = ratio;
  json["noise"] = noise;
  json["verdict"] = noise > kNoisySpread      ? "noisy"
                    : ratio > 1 + noise       ? "slower"
                    : ratio * (1 + noise) < 1 ? "faster"
                                              : "same";
  json["yardstick"] = yardstick.kernel;
  return json;
}

std::vector<Pair> pairs_of(const std::map<std::string, const Json*>& old_rows, const Json& new_rows) {
  std::vector<Pair> pairs;
  std::set<std::string> seen;
  for (const Json& row : new_rows)
    if (const auto found = old_rows.find(key_of(row));
        found != old_rows.end() && seen.insert(found->first).second)
      pairs.push_back({found->second, &row});
  return pairs;
}

std::map<std::string, Pair> yardsticks_of(const std::vector<Pair>& pairs) {
  std::map<std::string, Pair> yardsticks;
  for (const Pair& pair : pairs) {
    if (!is_yardstick(pair)) continue;
    const auto [known, is_new] = yardsticks.try_emplace(field_of(*pair.new_row), pair);
    if (!is_new && is_better(pair, known->second)) known->second = pair;
  }
  return yardsticks;
}

Json hosts_of(const Json& rows) {
  Json hosts = Json::array();
  for (const Json& row : rows)
    if (std::find(hosts.begin(), hosts.end(), row["host"]) == hosts.end()) hosts.push_back(row["host"]);
  return hosts;
}

std::string times(const Json& ratio) { return fmt::format("{:.2f}", ratio.get<double>()); }

std::set<std::string> kernels_of(const Json& rows) {
  std::set<std::string> kernels;
  for (const Json& row : rows) kernels.insert(row["kernel"].get<std::string>());
  return kernels;
}

std::int64_t with_verdict(const Json& rows, const char* verdict) {
  return std::count_if(rows.begin(), rows.end(), [&](const Json& row) { return row["verdict"] == verdict; });
}

}  // namespace

Json compare_runs(const Json& old_rows, const Json& new_rows) {
  std::map<std::string, const Json*> known;
  for (const Json& row : old_rows) known[key_of(row)] = &row;
  const std::vector<Pair> pairs = pairs_of(known, new_rows);
  const std::map<std::string, Pair> yardsticks = yardsticks_of(pairs);
  std::map<Json, std::vector<Yardstick>> of_device;
  for (const auto& [field, pair] : yardsticks)
    of_device[(*pair.new_row)["device"]].push_back(yardstick_of(pair));
  Json rows = Json::array(), used = Json::array();
  for (const Pair& pair : pairs) {
    const auto own = yardsticks.find(field_of(*pair.new_row));
    if (own == yardsticks.end()) {
      rows.push_back(compared(pair, middle_of(of_device[(*pair.new_row)["device"]])));
    } else if (own->second.new_row != pair.new_row) {
      rows.push_back(compared(pair, yardstick_of(own->second)));
    } else {
      used.push_back(described(pair));
      used.back()["ratio"] = pair.ratio();
    }
  }
  const auto paired = static_cast<std::int64_t>(pairs.size());
  Json json = {{"slower", with_verdict(rows, "slower")},
               {"faster", with_verdict(rows, "faster")},
               {"only_old", static_cast<std::int64_t>(known.size()) - paired},
               {"only_new", static_cast<std::int64_t>(new_rows.size()) - paired},
               {"hosts", {{"old", hosts_of(old_rows)}, {"new", hosts_of(new_rows)}}}};
  json["yardsticks"] = std::move(used);
  json["rows"] = std::move(rows);
  return json;
}

std::string against_text(const Json& comparison, const std::string& name) {
  const Json& rows = comparison["rows"];
  std::string text = fmt::format("against {}: {} rows compared, {} slower, {} faster", name, rows.size(),
                                 json_text(comparison["slower"]), json_text(comparison["faster"]));
  if (comparison["only_old"] != 0)
    text += fmt::format("; {} only in {}", json_text(comparison["only_old"]), name);
  if (comparison["only_new"] != 0)
    text += fmt::format("; {} only in this run", json_text(comparison["only_new"]));
  text += "\n";
  if (const Json& yardsticks = comparison["yardsticks"]; !yardsticks.empty()) {
    const auto [least, most] =
        std::minmax_element(yardsticks.begin(), yardsticks.end(),
                            [](const Json& a, const Json& b) { return a["ratio"] < b["ratio"]; });
    const std::string low = times((*least)["ratio"]), high = times((*most)["ratio"]);
    text +=
        fmt::format("baselines ({}) took {}{}x as long as in the earlier run; ratios are relative to them\n",
                    fmt::join(kernels_of(yardsticks), ", "), low, low == high ? "" : " to " + high);
  }
  std::vector<std::vector<std::string>> table = {
      {"", "matrix", "reorder", "format", "kernel", "N", "precision", "old", "new", "ratio", "noise"}};
  for (const char* verdict : {"slower", "faster"})
    for (const Json& row : rows)
      if (row["verdict"] == verdict)
        table.push_back({verdict, row["matrix"], row["reorder"], row["format"], row["kernel"],
                         json_text(row["n"]), row["precision"],
                         human_seconds(row["old_median_us"].get<double>() * 1e-6),
                         human_seconds(row["median_us"].get<double>() * 1e-6), times(row["ratio"]),
                         fmt::format("{:.0f}%", 100 * row["noise"].get<double>())});
  return table.size() == 1 ? text : text + format_table(table, "lllllrlrrrr");
}

}  // namespace sptile::tools
