#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "formats/compact_columns.hpp"
#include "formats/convert/converters.hpp"
#include "formats/layout/blocks.hpp"
#include "formats/layout/csr.hpp"
#include "formats/sizes.hpp"
#include "runtime/symmetry.hpp"
#include "tools/commands/commands.hpp"
#include "tools/core_shares.hpp"
#include "tools/input.hpp"
#include "tools/input_options.hpp"
#include "tools/json.hpp"
#include "tools/matrix_kinds.hpp"
#include "tools/order_options.hpp"
#include "tools/quality_report.hpp"
#include "tools/table.hpp"
#include "tools/units.hpp"

namespace sptile::tools {
namespace {

struct StatsOptions {
  std::string in;
  DType dtype = DType::f32;
  OrderRequest order;
  InputOptions input;
};

constexpr int kPercentiles[] = {1, 10, 25, 50, 75, 90, 99};

struct LineLengths {
  std::int64_t empty = 0, minimum = 0, maximum = 0;
  double mean = 0, deviation = 0;
  std::vector<std::int64_t> percentiles;  // at kPercentiles, nearest rank
};

// Of the rows or columns: all those with entries are among the lengths, of the empty ones any number.
LineLengths measure_lengths(std::vector<std::int64_t> lengths, std::int64_t lines) {
  LineLengths result;
  result.percentiles.assign(std::size(kPercentiles), 0);
  if (lines == 0) return result;
  std::erase(lengths, 0);
  std::sort(lengths.begin(), lengths.end());
  const double count = static_cast<double>(lines);
  result.empty = lines - static_cast<std::int64_t>(lengths.size());
  const auto at_rank = [&](std::int64_t rank) {
    return rank <= result.empty ? 0 : lengths[static_cast<std::size_t>(rank - result.empty - 1)];
  };
  result.minimum = at_rank(1);
  result.maximum = at_rank(lines);
  result.mean = static_cast<double>(std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0})) / count;
  double squares = static_cast<double>(result.empty) * std::pow(result.mean, 2);
  for (const std::int64_t n : lengths) squares += std::pow(static_cast<double>(n) - result.mean, 2);
  result.deviation = std::sqrt(squares / count);
  for (std::size_t i = 0; i < std::size(kPercentiles); ++i)
    result.percentiles[i] = at_rank(static_cast<std::int64_t>(std::ceil(kPercentiles[i] / 100.0 * count)));
  return result;
}

std::vector<std::int64_t> row_lengths(const formats::CsrView& a) {
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(a.rows));
  for (std::int64_t r = 0; r < a.rows; ++r) lengths[static_cast<std::size_t>(r)] = a.row_nnz(r);
  return lengths;
}

// Without most of the empty columns where there are many of them.
std::vector<std::int64_t> column_lengths(const formats::CsrView& a) {
  const formats::CompactColumns columns(a);
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(columns.view().cols), 0);
  for (const std::int32_t c : columns.view().col_idx) ++lengths[static_cast<std::size_t>(c)];
  return lengths;
}

struct FormatRow {
  std::string name;
  bool stored;  // sptile has it; the others are for comparison
  std::int64_t tc_blocks = 0, index_bytes = 0, value_bytes = 0;
  std::string refused;          // why the matrix does not fit
  std::int64_t tc_entries = 0;  // in the blocks
  std::int64_t fetches = 0;     // rows of B that a product asks for
  std::optional<CoreShares> shares = {};
};

FormatRow comparison_row(const formats::FormatSize& size) {
  return {std::string(size.name), false, 0, size.index_bytes, size.value_bytes, {}};
}

FormatRow stored_row(const formats::FormatView& view) {
  const formats::Blocks blocks = formats::blocks_of(view);
  return {std::string(view.layout->name),
          true,
          view.layout->tc_blocks(view),
          formats::index_bytes(view),
          formats::value_bytes(view),
          {},
          view.nnz - std::ssize(blocks.rows.columns),
          blocks.fetches(),
          core_shares(view)};
}

// Converts to every format, one at a time, and keeps the sizes.
Result<std::vector<FormatRow>> measure_formats(Session& session, const formats::CsrView& a) {
  const auto value_size = static_cast<std::int64_t>(size_of(a.values.dtype));
  std::vector<FormatRow> rows = {comparison_row(formats::coo_size(a.rows, a.cols, a.nnz(), value_size)),
                                 comparison_row(formats::tcf_size(a.rows, a.cols, a.nnz(), value_size)),
                                 stored_row(formats::as_format(a))};
  for (const formats::Converter& converter : formats::converters()) {
    if (converter.format == formats::kCsrLayout.name) continue;
    const auto data = converter.from_csr(a, &session.progress);
    if (data)
      rows.push_back(stored_row(data->view()));
    else if (data.error().code == Errc::unsupported)
      rows.push_back({std::string(converter.format), true, 0, 0, 0, data.error().message});
    else
      return tl::unexpected(data.error());
  }
  return rows;
}

struct Stats {
  std::string name, order;
  std::int64_t rows, cols, nnz;
  LineLengths row_nnz, column_nnz;
  std::vector<FormatRow> formats;
  OrderQuality quality;
  DType dtype;
  bool symmetric;  // in its own order
};

double mean_per_block(const FormatRow& row) {
  return row.tc_blocks > 0 ? static_cast<double>(row.tc_entries) / static_cast<double>(row.tc_blocks) : 0;
}

Json lengths_json(const LineLengths& lengths) {
  Json percentiles = Json::object();
  for (std::size_t i = 0; i < std::size(kPercentiles); ++i)
    percentiles[fmt::format("p{}", kPercentiles[i])] = lengths.percentiles[i];
  return {{"empty", lengths.empty}, {"min", lengths.minimum},         {"max", lengths.maximum},
          {"mean", lengths.mean},   {"deviation", lengths.deviation}, {"percentiles", percentiles}};
}

Json formats_json(const Stats& stats) {
  Json list = Json::array();
  for (const FormatRow& row : stats.formats) {
    Json json = {{"name", row.name}, {"stored", row.stored}};
    if (!row.refused.empty()) {
      json["refused"] = row.refused;
    } else {
      json.update({{"index_bytes", row.index_bytes}, {"value_bytes", row.value_bytes}});
      json["total_bytes"] = row.index_bytes + row.value_bytes;
      if (row.stored)
        json.update(
            {{"tc_blocks", row.tc_blocks}, {"mean_nnz_tc", mean_per_block(row)}, {"b_rows", row.fetches}});
      if (row.shares) json["tensor_cores"] = to_json(row.shares);
    }
    list.push_back(std::move(json));
  }
  return list;
}

Json stats_json(const Session& session, const Stats& stats) {
  Json json = new_result(session);
  json.update({{"name", stats.name}, {"rows", stats.rows}, {"cols", stats.cols}, {"nnz", stats.nnz}});
  json.update({{"dtype", dtype_label(stats.dtype)}, {"order", stats.order}});
  json["symmetric"] = stats.symmetric;
  json.update({{"empty_rows", stats.row_nnz.empty}, {"empty_cols", stats.column_nnz.empty}});
  json.update({{"row_nnz", lengths_json(stats.row_nnz)}, {"col_nnz", lengths_json(stats.column_nnz)}});
  json["nnz1_ratio"] = stats.quality.windows.front().nnz1_ratio;
  json["formats"] = formats_json(stats);
  json["quality"] = to_json(stats.quality.windows);
  json["locality"] = to_json(stats.quality.locality);
  return json;
}

std::string lengths_text(const char* what, const LineLengths& lengths) {
  std::string percentiles;
  for (std::size_t i = 0; i < std::size(kPercentiles); ++i)
    percentiles += fmt::format("  p{} {}", kPercentiles[i], lengths.percentiles[i]);
  return fmt::format("entries per {}: {} to {}, mean {:.2f}, deviation {:.2f}, {} empty{}\n", what,
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
                    row.stored ? fmt::format("{}", row.fetches) : "-"});
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

// The order that the statistics are about: that of --reorder, else the bundle's own. Its quality is measured
// before the rows move: the bandwidth needs to know where they were.
Status order_rows(Session& session, const Ordering& ordering, LoadedMatrix& loaded, Stats& stats) {
  std::vector<std::int32_t> order = std::move(loaded.row_order);
  stats.order = order.empty() ? "identity" : "of the bundle";
  if (ordering.method->name != "identity") {
    auto computed = compute_order(session, ordering, loaded.csr.view());
    if (!computed) return tl::unexpected(std::move(computed.error()));
    order = std::move(*computed);
    stats.order = ordering.label();
  }
  stats.quality = measure_order(loaded.csr.view(), order);
  if (!order.empty()) loaded.csr = formats::permute_rows(loaded.csr.view(), order);
  return {};
}

Status run_stats(Session& session, const StatsOptions& options) {
  const auto ordering = resolve_order(options.order);
  if (!ordering) return tl::unexpected(ordering.error());
  auto loaded = load_matrix(session, options.in,
                            {options.dtype, options.input.real_part, false, options.input.edges()});
  if (!loaded) return tl::unexpected(std::move(loaded.error()));
  Stats stats{};
  stats.symmetric = runtime::is_symmetric(loaded->csr.view());
  if (Status s = order_rows(session, *ordering, *loaded, stats); !s) return s;
  const formats::CsrView a = loaded->csr.view();
  stats.name = loaded->name;
  stats.rows = a.rows;
  stats.cols = a.cols;
  stats.nnz = a.nnz();
  stats.dtype = a.values.dtype;
  stats.row_nnz = measure_lengths(row_lengths(a), a.rows);
  stats.column_nnz = measure_lengths(column_lengths(a), a.cols);
  auto sizes = measure_formats(session, a);
  if (!sizes) return tl::unexpected(std::move(sizes.error()));
  stats.formats = std::move(*sizes);
  print_result(session, stats_json(session, stats), stats_text(stats));
  return {};
}

Action declare_stats(Options& app) {
  auto options = std::make_shared<StatsOptions>();
  app.add_option("IN", options->in,
                 "matrix: " + readable_kinds() + "; text also .gz, .xz, .zst; -: standard input")
      .required();
  declare_order(app, options->order, "--reorder",
                "look at the matrix in this row order; a bundle has its own");
  app.add_option("--dtype", options->dtype, "value type that the sizes are for");
  declare_input(app, options->input);
  return [options](Session& session) { return run_stats(session, *options); };
}
}  // namespace

const Verb kStats = {"stats", "tell the structure of a matrix: sizes per format, row lengths, tile quality",
                     "  sptile stats matrix.mtx.gz --json", declare_stats};

}  // namespace sptile::tools
