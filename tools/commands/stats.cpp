#include <fmt/format.h>

#include <vector>

#include "formats/io/files/available_memory.hpp"
#include "runtime/core/symmetry.hpp"
#include "tools/cli/input_options.hpp"
#include "tools/cli/json.hpp"
#include "tools/cli/order_options.hpp"
#include "tools/cli/table.hpp"
#include "tools/commands/commands.hpp"
#include "tools/pipeline/input.hpp"
#include "tools/pipeline/matrix_kinds.hpp"
#include "tools/pipeline/names.hpp"
#include "tools/pipeline/units.hpp"
#include "tools/stats/core_shares.hpp"
#include "tools/stats/format_sizes.hpp"
#include "tools/stats/hypersparse.hpp"
#include "tools/stats/line_lengths.hpp"
#include "tools/stats/quality_report.hpp"

namespace sptile::tools {
namespace {

constexpr const char* kGivenOrder = "identity";

struct StatsOptions {
  std::string in, formats = "all";
  DType dtype = DType::f32;
  OrderRequest order;
  InputOptions input;
};

struct Stats {
  std::string name, order;
  std::int64_t rows, cols, nnz;
  LineLengths row_nnz, column_nnz;
  std::vector<FormatRow> formats;
  OrderQuality quality;
  DType dtype;
  bool symmetric;  // in its original order
};

Json stats_json(const Session& session, const Stats& stats) {
  Json json = new_result(session);
  json.update({{"name", stats.name}, {"rows", stats.rows}, {"cols", stats.cols}, {"nnz", stats.nnz}});
  json.update({{"dtype", dtype_label(stats.dtype)}, {"order", stats.order}});
  json["symmetric"] = stats.symmetric;
  json.update({{"empty_rows", stats.row_nnz.empty}, {"empty_cols", stats.column_nnz.empty}});
  json.update({{"row_nnz", to_json(stats.row_nnz)}, {"col_nnz", to_json(stats.column_nnz)}});
  json["nnz1_ratio"] = stats.quality.windows.front().nnz1_ratio;
  json["formats"] = to_json(stats.formats);
  json["quality"] = to_json(stats.quality.windows);
  json["locality"] = to_json(stats.quality.locality);
  return json;
}

std::string lengths_text(const char* what, const LineLengths& lengths) {
  std::string percentiles;
  for (std::size_t i = 0; i < std::size(kPercentiles); ++i)
    percentiles += fmt::format("  p{} {}", kPercentiles[i], lengths.percentiles[i]);
  return fmt::format("entries per {}: {} to {}, mean {:.2f}, standard deviation {:.2f}, {} empty{}\n", what,
                     lengths.minimum, lengths.maximum, lengths.mean, lengths.deviation, lengths.empty,
                     percentiles);
}

std::string formats_text(const Stats& stats) {
  std::vector<std::vector<std::string>> rows = {
      {"format", "index", "values", "total", "tc blocks", "entries/block", "rows of B"}};
  for (const FormatRow& row : stats.formats) {
    if (!row.refused.empty()) {
      rows.push_back({row.name, "-", "-", "-", "-", "-", "does not fit"});
      continue;
    }
    const bool tiles = row.tc_blocks > 0;
    rows.push_back({row.name + (row.stored ? "" : " *"), human_bytes(row.index_bytes),
                    human_bytes(row.value_bytes), human_bytes(row.index_bytes + row.value_bytes),
                    tiles ? fmt::format("{}", row.tc_blocks) : "-",
                    tiles ? fmt::format("{:.2f}", mean_per_block(row)) : "-",
                    row.stored ? fmt::format("{}", row.loads) : "-"});
  }
  std::string text = format_table(rows, "lrrrrrr") + "* for comparison only\n";
  for (const FormatRow& row : stats.formats) text += core_shares_text(row.name, row.shares);
  return text;
}

std::string stats_text(const Stats& stats) {
  return fmt::format("{}: {} x {}, {} entries, {}{}, rows in order: {}\n{}{}\n{}\n{}", stats.name, stats.rows,
                     stats.cols, stats.nnz, dtype_label(stats.dtype), stats.symmetric ? ", symmetric" : "",
                     stats.order, lengths_text("row", stats.row_nnz),
                     lengths_text("column", stats.column_nnz), formats_text(stats),
                     quality_text(stats.quality));
}

// Applies the order of --reorder, otherwise the bundle's. Measures its quality before rows are permuted,
// because the bandwidth depends on their original positions.
Status order_rows(Session& session, const Ordering& ordering, LoadedMatrix& loaded, Stats& stats) {
  std::vector<std::int32_t> order = std::move(loaded.row_order);
  stats.order = order.empty() ? kGivenOrder : "as in the bundle";
  if (ordering.method->name != kGivenOrder) {
    auto computed = compute_order(session, ordering, loaded.csr.view());
    if (!computed) return tl::unexpected(std::move(computed.error()));
    order = std::move(*computed);
    stats.order = ordering.label();
  }
  stats.quality = measure_order(loaded.csr.view(), order);
  if (!order.empty()) loaded.csr = formats::permute_rows(loaded.csr.view(), order);
  return {};
}

// Measures the formats in the list, with their parameters.
Status measure_listed(Session& session, const std::vector<FormatChoice>& formats, const formats::CsrView& a,
                      Stats& stats) {
  stats.formats = comparison_rows(a);
  for (const FormatChoice& format : formats) {
    auto row = measure_format(session, a, format);
    if (!row) return tl::unexpected(std::move(row.error()));
    stats.formats.push_back(std::move(*row));
  }
  return {};
}

// Results that need all rows, including empty ones. `formats` is empty for all formats.
Status measure_rows(Session& session, const Ordering& ordering, const std::vector<FormatChoice>& formats,
                    LoadedMatrix& loaded, Stats& stats) {
  if (Status s = formats::check_row_memory(loaded.csr.rows, 8); !s) return s;
  stats.symmetric = runtime::is_symmetric(loaded.csr.view());
  if (Status s = order_rows(session, ordering, loaded, stats); !s) return s;
  if (!formats.empty()) return measure_listed(session, formats, loaded.csr.view(), stats);
  return measure_formats(session, loaded.csr.view()).map([&](auto sizes) {
    stats.formats = std::move(sizes);
  });
}

// Results if only nonempty rows are stored, in their given order.
Status measure_rows(Session& session, const formats::CsrView& a, const formats::NonemptyRows& nonempty,
                    Stats& stats) {
  stats.order = kGivenOrder;
  stats.symmetric = is_symmetric(a, nonempty);
  stats.quality = measure_order(a, nonempty);
  return measure_formats(session, a, nonempty).map([&](auto sizes) { stats.formats = std::move(sizes); });
}

Status run_stats(Session& session, const StatsOptions& options) {
  const auto ordering = resolve_order(options.order);
  if (!ordering) return tl::unexpected(ordering.error());
  std::vector<FormatChoice> formats;
  if (options.formats != "all") {
    auto listed = parse_formats(options.formats);
    if (!listed) return tl::unexpected(std::move(listed.error()));
    formats = std::move(*listed);
  }
  LoadOptions load = options.input.load(options.dtype);
  load.compress_rows = ordering->method->name == kGivenOrder && formats.empty();
  auto loaded = load_matrix(session, options.in, load);
  if (!loaded) return tl::unexpected(std::move(loaded.error()));
  const auto& nonempty = loaded->nonempty;
  Stats stats{};
  if (Status s = nonempty ? measure_rows(session, loaded->csr.view(), *nonempty, stats)
                          : measure_rows(session, *ordering, formats, *loaded, stats);
      !s)
    return s;
  const formats::CsrView a = loaded->csr.view();
  stats.name = loaded->name;
  stats.rows = nonempty ? nonempty->rows : a.rows;
  stats.cols = a.cols;
  stats.nnz = a.nnz();
  stats.dtype = a.values.dtype;
  stats.row_nnz = measure_lengths(row_lengths(a), stats.rows);
  stats.column_nnz = measure_lengths(column_lengths(a), a.cols);
  print_result(session, stats_json(session, stats), stats_text(stats));
  return {};
}

Action declare_stats(Options& app) {
  auto options = std::make_shared<StatsOptions>();
  declare_matrix(app, options->in);
  declare_order(app, options->order, "--reorder METHOD", "Row ordering to apply first")
      .details("Without it, the rows of a bundle are in the stored row order.");
  app.add_option("--format LIST", options->formats, "Formats to measure, separated by commas")
      .names("format", names_with("all", format_names()))
      .details("With parameters as for `bench`: `rs_tile:tau_nnz=3`, `libra_spmm:5`.");
  app.add_option("--dtype", options->dtype, "Value type assumed for sizes");
  declare_input(app, options->input);
  return [options](Session& session) { return run_stats(session, *options); };
}
}  // namespace

const Verb kStats = {
    .name = "stats",
    .summary = "Print the structure of a matrix: sizes, row lengths, tile quality",
    .details =
        "Prints nonzeros per row and column, the size of every format compared with COO, CSR and TCF, and "
        "for "
        "window heights of 8 to 128 rows the distinct columns, tensor-core blocks, nonzeros per block and "
        "the "
        "fraction of distinct columns with a single nonzero (NNZ-1). Also prints the w-Jaccard cost of "
        "adjacent rows, the bandwidth, the mean number of distinct columns per 1024 rows, and whether the "
        "matrix "
        "equals its transpose. For hybrid formats it prints the fraction of windows and nonzeros in tiles.",
    .json_keys =
        "`rows`, `cols`, `nnz`, `symmetric`, `empty_rows`, `empty_cols`, `row_nnz` and `col_nnz` (also "
        "`above_2x_mean`, `above_4x_mean`: share of the rows or columns with more than 2 and 4 times the "
        "mean; `bins[]`: "
        "`lines` with `min` to `max` nonzeros), `nnz1_ratio`, `quality[]`, `locality`.\n"
        "`formats[]`: `name`, `stored`, `index_bytes`, `value_bytes`, `total_bytes`, `over_coo` and "
        "`over_tcf` (index "
        "bytes over those of COO and TCF); if stored, `tc_blocks`, `mean_nnz_tc`, `b_rows` (rows of B that a "
        "product "
        "loads), `tc_nnz` (nonzeros in blocks), `tc_windows` (windows with blocks), `mean_nnz_window`, "
        "`tc_utilization` (nonzeros per position of the blocks); for hybrid formats `tensor_cores`. `csr32` "
        "is CSR "
        "with 32-bit row pointers; `csr` has 64-bit row pointers.",
    .example =
        "  sptile stats matrix.mtx.gz --json\n"
        "  sptile stats matrix.mtx --format rs_tile:tau_nnz=0,rs_tile:tau_nnz=4",
    .declare = declare_stats};

}  // namespace sptile::tools
