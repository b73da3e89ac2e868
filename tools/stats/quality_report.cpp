#include "tools/stats/quality_report.hpp"

#include <fmt/format.h>

#include "tools/cli/json.hpp"
#include "tools/cli/table.hpp"

namespace sptile::tools {
namespace {
std::string bandwidth_text(const reorder::OrderLocality& locality) {
  return locality.bandwidth ? fmt::format("{}", *locality.bandwidth) : "-";
}
}  // namespace

Json to_json(std::span<const reorder::WindowQuality> windows) {
  Json list = Json::array();
  for (const reorder::WindowQuality& q : windows)
    list.push_back({{"window_rows", q.window_rows},
                    {"distinct_columns", q.distinct_columns},
                    {"tc_blocks", q.tc_blocks},
                    {"mean_nnz_tc", q.mean_nnz_tc},
                    {"nnz1_ratio", q.nnz1_ratio}});
  return list;
}

Json to_json(const reorder::OrderLocality& locality) {
  return {{"jaccard_cost", locality.jaccard_cost},
          {"bandwidth", locality.bandwidth ? Json(*locality.bandwidth) : Json(nullptr)},
          {"working_set_rows", reorder::kWorkingSetRows},
          {"working_set_columns", locality.working_set_columns}};
}

std::string quality_text(const OrderQuality& quality) {
  std::vector<std::vector<std::string>> rows = {
      {"window rows", "distinct columns", "tc blocks", "entries/block", "single-entry columns"}};
  for (const reorder::WindowQuality& q : quality.windows)
    rows.push_back({fmt::format("{}", q.window_rows), fmt::format("{}", q.distinct_columns),
                    fmt::format("{}", q.tc_blocks), fmt::format("{:.2f}", q.mean_nnz_tc),
                    fmt::format("{:.1f}%", 100 * q.nnz1_ratio)});
  return fmt::format(
      "{}\nadjacent rows: w-Jaccard cost {:.1f}; bandwidth {}; distinct columns per {} rows: {:.1f} on "
      "average\n",
      format_table(rows, "rrrrr"), quality.locality.jaccard_cost, bandwidth_text(quality.locality),
      reorder::kWorkingSetRows, quality.locality.working_set_columns);
}

std::string comparison_text(const OrderQuality& before, const OrderQuality& after) {
  std::vector<std::vector<std::string>> rows = {
      {"window rows", "distinct columns", "after", "tc blocks", "after", "entries/block", "after"}};
  for (std::size_t i = 0; i < before.windows.size(); ++i) {
    const reorder::WindowQuality &b = before.windows[i], &a = after.windows[i];
    rows.push_back({fmt::format("{}", b.window_rows), fmt::format("{}", b.distinct_columns),
                    fmt::format("{}", a.distinct_columns), fmt::format("{}", b.tc_blocks),
                    fmt::format("{}", a.tc_blocks), fmt::format("{:.2f}", b.mean_nnz_tc),
                    fmt::format("{:.2f}", a.mean_nnz_tc)});
  }
  const reorder::OrderLocality &b = before.locality, &a = after.locality;
  const std::vector<std::vector<std::string>> others = {
      {"all rows", "before", "after"},
      {"w-Jaccard cost, adjacent rows", fmt::format("{:.1f}", b.jaccard_cost),
       fmt::format("{:.1f}", a.jaccard_cost)},
      {"bandwidth", bandwidth_text(b), bandwidth_text(a)},
      {fmt::format("distinct columns per {} rows, mean", reorder::kWorkingSetRows),
       fmt::format("{:.1f}", b.working_set_columns), fmt::format("{:.1f}", a.working_set_columns)}};
  return format_table(rows, "rrrrrrr") + "\n" + format_table(others, "lrr");
}

}  // namespace sptile::tools
