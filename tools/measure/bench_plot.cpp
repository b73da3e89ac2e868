#include "tools/measure/bench_plot.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "runtime/operation/operation.hpp"
#include "tools/cli/json.hpp"
#include "tools/measure/bench_rows.hpp"
#include "tools/plot/rate_plot.hpp"

namespace sptile::tools {
namespace {

bool varies(const Json& rows, const char* key) {
  std::set<std::string> values;
  for (const Json& row : rows)
    if (!is_cusparse(row)) values.insert(json_text(row[key]));
  return values.size() > 1;
}

// Removes the file suffix.
std::string short_name(const std::string& matrix) {
  for (const char* ending : {".gz", ".bz2", ".xz", ".zst"})
    if (matrix.ends_with(ending)) return short_name(matrix.substr(0, matrix.rfind('.')));
  for (const char* ending : {".mtx", ".csr", ".h5"})
    if (matrix.ends_with(ending)) return matrix.substr(0, matrix.rfind('.'));
  return matrix;
}

// Returns the operations of the rows, for example "SpMM and SDDMM".
std::string plot_title(const Json& rows) {
  std::vector<std::string_view> titles;
  for (const runtime::Operation* op : runtime::operations())
    if (std::any_of(rows.begin(), rows.end(), [&](const Json& row) { return row["op"] == op->name; }))
      titles.push_back(op->title);
  return fmt::format("{}", fmt::join(titles, " and "));
}

}  // namespace

std::string bench_plot(const Json& rows) {
  const bool orders = varies(rows, "reorder"), heights = varies(rows, "window_rows"),
             flushes = varies(rows, "flush_l2"), graphs = varies(rows, "graph"),
             devices = varies(rows, "device"), ops = varies(rows, "op"), hosts = varies(rows, "host"),
             versions = varies(rows, "version");
  std::set<std::int64_t> columns;
  for (const Json& row : rows) columns.insert(row["n"].get<std::int64_t>());
  plot::RatePlot drawn{plot_title(rows), "GFLOP/s", {}, "cuSPARSE"};
  for (const std::int64_t n : columns)
    for (const Json& row : rows) {
      if (row["n"] != n) continue;
      const bool yardstick = is_cusparse(row);
      std::string series = fmt::format("{} {}", yardstick ? "cuSPARSE" : std::string(row["format"]),
                                       std::string(row["precision"]));
      if (ops) series += " " + std::string(row["op"]);
      if (devices) series += " " + std::string(row["device"]);
      if (hosts) series += " on " + std::string(row["host"]);
      if (versions) series += " by sptile " + std::string(row["version"]);
      if (orders && !yardstick) series += ", " + std::string(row["reorder"]);
      if (orders && heights && !yardstick) series += fmt::format(" {}", json_text(row["window_rows"]));
      if (flushes && row["flush_l2"] == true) series += ", cold L2";
      if (graphs && row["graph"] == true) series += ", graph";
      drawn.rates.push_back(
          {fmt::format("N = {}", n), short_name(row["matrix"]), series, row["gflops"].get<double>()});
    }
  return draw(drawn);
}

}  // namespace sptile::tools
