#include "tools/measure/bench_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "runtime/kernels/kernels.hpp"
#include "runtime/operation/operation.hpp"
#include "tools/cli/json.hpp"
#include "tools/measure/bench_rows.hpp"
#include "tools/pipeline/units.hpp"

namespace sptile::tools {
namespace {

constexpr double kMinNoise = 0.05;
constexpr int kNoisyRuns = 5;

double number(const Json& row, const char* key) { return row[key].is_null() ? 0 : row[key].get<double>(); }

std::string joined(const Json& row, std::initializer_list<const char*> keys) {
  std::string text;
  for (const char* key : keys) text += json_text(row[key]) + "\n";
  return text;
}

// Returns the key of a group. The contents of a matrix depend on the value type, its sizes do not.
std::string group_of(const Json& row) {
  return joined(row, {"matrix", "rows", "cols", "nnz", "values", "version", "host", "device", "op", "n",
                      "flush_l2", "graph", "threads"});
}

std::string types_of(const Json& row) { return joined(row, {"value_dtype", "dtype", "result_dtype"}); }

// Returns the key of the rows among which a plan chooses.
std::string choice_of(const Json& row) {
  return types_of(row) + joined(row, {"reorder", "wanted_dtype", "wanted_precision"});
}

// Returns the predicted time of a row that plans may choose. A kernel by name whose prediction may be that of
// another kernel is none of them.
std::optional<double> eligible_us(const Json& row) {
  if (row["predicted_us"].is_null()) return std::nullopt;
  for (const runtime::Kernel& kernel : runtime::kernels())
    if (row["kernel"] == kernel.name && kernel.by_name && !kernel.like.empty()) return std::nullopt;
  return row["predicted_us"].get<double>();
}

// Returns the fastest of the rows that are not noisy; null if there is none.
template <class Predicate>
const Json* fastest(const std::vector<const Json*>& rows, Predicate predicate) {
  const Json* best = nullptr;
  for (const Json* row : rows)
    if (!is_noisy(*row) && predicate(*row) && (best == nullptr || best_us(*row) < best_us(*best))) best = row;
  return best;
}

// Returns the number of multiplications after which a preparation pays off; null if there is none.
Json break_even(double cost_us, double from_us, double to_us) {
  const double products = std::ceil(std::max(cost_us, 0.0) / (from_us - to_us));
  return products < 1e15 ? Json(static_cast<std::int64_t>(products)) : Json(nullptr);
}

// Returns the time to reorder and convert.
double preparation(const Json& row) { return number(row, "reorder_us") + number(row, "convert_us"); }

// Returns whether a row is faster than another by more than the noise.
bool gains(const Json& from, const Json& to) {
  return best_us(to) < best_us(from) * (1 - noise_of({&from, &to}));
}

Json ratio(const Json* than, const Json& row) {
  return than == nullptr ? Json(nullptr) : Json(best_us(*than) / best_us(row));
}

Json verdict_of(const std::vector<const Json*>& rows) {
  const auto ours = [](const Json& row) { return !is_cusparse(row); };
  const Json* const best = fastest(rows, ours);
  if (best == nullptr) return nullptr;
  const Json& first_order =
      (**std::find_if(rows.begin(), rows.end(), [&](const Json* r) { return ours(*r); }))["reorder"];
  const auto plain = [&](const Json& row) { return ours(row) && row["reorder"] == first_order; };
  const auto same_types = [&](const Json& row) { return types_of(row) == types_of(*best); };
  const Json* const csr =
      fastest(rows, [&](const Json& row) { return plain(row) && same_types(row) && row["format"] == "csr"; });
  const Json* const cusparse =
      fastest(rows, [&](const Json& row) { return is_cusparse(row) && same_types(row); });
  const Json* const unordered = fastest(rows, plain);
  const Json* const ordered = fastest(rows, [&](const Json& row) { return ours(row) && !plain(row); });

  Json verdict = Json::object();
  for (const char* key : {"matrix", "rows", "cols", "nnz", "device", "op", "n", "format", "kernel",
                          "precision", "reorder", "median_us", "min_us"})
    verdict[key] = (*best)[key];
  verdict["over_csr"] = ratio(csr, *best);
  verdict["over_cusparse"] = ratio(cusparse, *best);
  verdict["reordering_pays"] = nullptr;
  const Json* from = csr;
  if (ordered != nullptr && unordered != nullptr) {
    verdict["reordering_pays"] = gains(*unordered, *ordered);
    verdict["best_ordering"] = (*ordered)["reorder"];
    verdict["best_ordering_us"] = best_us(*ordered);
    from = unordered;
  }
  const bool prepared = from != nullptr && verdict["reordering_pays"] != false && gains(*from, *best);
  verdict["saved_us"] = prepared ? Json(best_us(*from) - best_us(*best)) : Json(nullptr);
  verdict["preparation_us"] = prepared ? Json(preparation(*best)) : Json(nullptr);
  verdict["pays_after"] =
      prepared ? break_even(preparation(*best), best_us(*from), best_us(*best)) : Json(nullptr);
  return verdict;
}

// The title of an operation, followed by its attributes, see operation_label.
std::string title_of(const Json& op) {
  const auto label = op.get<std::string>();
  const std::size_t end = std::min(label.find(' '), label.size());
  const runtime::Operation* const known = runtime::find_operation(label.substr(0, end));
  return known == nullptr ? label : std::string(known->title) + label.substr(end);
}

std::string verdict_text(const Json& v) {
  std::string text =
      fmt::format("{}, {}, N = {}: {} {}", v["matrix"].get<std::string>(), title_of(v["op"]),
                  json_text(v["n"]), v["format"].get<std::string>(), v["precision"].get<std::string>());
  const bool compared = !v["reordering_pays"].is_null();
  if (compared) text += fmt::format(" with ordering {}", v["reorder"].get<std::string>());
  text += fmt::format(" is fastest at {}", human_seconds(best_us(v) * 1e-6));
  if (!v["over_csr"].is_null() && v["format"] != "csr")
    text += fmt::format(", {:.2f}x as fast as csr", number(v, "over_csr"));
  if (!v["over_cusparse"].is_null())
    text += fmt::format(", {:.2f}x as fast as cuSPARSE", number(v, "over_cusparse"));
  if (v["reordering_pays"] == false)
    return text +
           (v["best_ordering_us"] == best_us(v)
                ? "; the gain of reordering is within the noise"
                : fmt::format("; reordering does not pay off ({}: {})", v["best_ordering"].get<std::string>(),
                              human_seconds(number(v, "best_ordering_us") * 1e-6)));
  if (v["pays_after"].is_null()) return text;
  return text + fmt::format("; {} pays off after {} multiplication{} (costs {}, saves {} each)",
                            compared ? "reordering" : "converting", json_text(v["pays_after"]),
                            v["pays_after"] == 1 ? "" : "s",
                            human_seconds(number(v, "preparation_us") * 1e-6),
                            human_seconds(number(v, "saved_us") * 1e-6));
}

}  // namespace

double noise_of(std::initializer_list<const Json*> rows) {
  double noise = kMinNoise;
  for (const Json* row : rows) noise = std::max(noise, number(*row, "spread"));
  return noise;
}

bool is_noisy(const Json& row) {
  return number(row, "repeat") >= kNoisyRuns && number(row, "spread") > kNoisySpread;
}

std::string noise_text(const Json& rows) {
  const Json* worst = nullptr;
  int count = 0;
  for (const Json& row : rows) {
    if (!is_noisy(row)) continue;
    ++count;
    if (worst == nullptr || number(row, "spread") > number(*worst, "spread")) worst = &row;
  }
  if (count == 0) return {};
  return fmt::format(
      "{} of {} rows are noisy (spread over {:.0f} %); maximum: {} on {}, N = {}, {:.0f} %; measure them "
      "again "
      "on an idle machine",
      count, rows.size(), 100 * kNoisySpread, (*worst)["kernel"].get<std::string>(),
      (*worst)["matrix"].get<std::string>(), json_text((*worst)["n"]), 100 * number(*worst, "spread"));
}

RowMarks BenchGroups::add(const Json& row) {
  Group& group = groups_[group_of(row)];
  const double us = best_us(row);
  if (!is_cusparse(row) && group.first_order.empty()) group.first_order = row["reorder"].get<std::string>();
  if (const auto predicted = eligible_us(row)) {
    const auto [lowest, is_new] = group.predicted_us.try_emplace(choice_of(row), *predicted);
    if (!is_new) lowest->second = std::min(lowest->second, *predicted);
  }
  if (is_noisy(row)) return marks(row);
  if (group.fastest_us == 0 || us < group.fastest_us) group.fastest_us = us;
  if (!is_cusparse(row) && row["format"] == "csr" && row["reorder"] == group.first_order) {
    const auto [csr, is_new] = group.csr_us.try_emplace(types_of(row), us);
    if (!is_new) csr->second = std::min(csr->second, us);
  }
  return marks(row);
}

RowMarks BenchGroups::marks(const Json& row) const {
  const Group& group = groups_.at(group_of(row));
  const auto lowest = group.predicted_us.find(choice_of(row));
  const bool automatic = lowest != group.predicted_us.end() && eligible_us(row) == lowest->second;
  if (is_noisy(row)) return {.noisy = true, .automatic = automatic};
  RowMarks marks{.fastest = group.fastest_us == best_us(row), .automatic = automatic};
  if (const auto csr = group.csr_us.find(types_of(row)); csr != group.csr_us.end())
    marks.over_csr = csr->second / best_us(row);
  return marks;
}

void mark_rows(Json& rows) {
  BenchGroups groups;
  for (const Json& row : rows) groups.add(row);
  std::vector<RowMarks> marks;
  for (const Json& row : rows) marks.push_back(groups.marks(row));
  for (std::size_t i = 0; i < marks.size(); ++i) {
    rows[i]["fastest"] = marks[i].fastest;
    rows[i]["noisy"] = marks[i].noisy;
    rows[i]["auto"] = marks[i].automatic;
    rows[i]["over_csr"] = marks[i].over_csr ? Json(*marks[i].over_csr) : Json(nullptr);
  }
}

Json group_verdicts(const Json& rows) {
  std::vector<std::string> names;  // in the order of the rows
  std::map<std::string, std::vector<const Json*>> groups;
  for (const Json& row : rows) {
    auto& group = groups[group_of(row)];
    if (group.empty()) names.push_back(group_of(row));
    group.push_back(&row);
  }
  Json verdicts = Json::array();
  for (const std::string& name : names)
    if (Json verdict = verdict_of(groups[name]); !verdict.is_null()) verdicts.push_back(std::move(verdict));
  return verdicts;
}

std::string verdicts_text(const Json& verdicts) {
  std::string text;
  for (const Json& verdict : verdicts) text += verdict_text(verdict) + "\n";
  return text;
}

}  // namespace sptile::tools
