#include "tools/stats/format_sizes.hpp"

#include <algorithm>
#include <utility>

#include "formats/core/sizes.hpp"
#include "formats/layout/blocks.hpp"
#include "formats/layout/csr.hpp"
#include "tools/cli/json.hpp"

namespace sptile::tools {
namespace {

FormatRow comparison_row(const formats::FormatSize& size) {
  return {.name = std::string(size.name), .index_bytes = size.index_bytes, .value_bytes = size.value_bytes};
}

// Returns the number of windows with tiles. Adjacent windows with the same first row are segments of one
// window.
std::int64_t windows_with_tiles(const formats::Blocks& blocks) {
  std::int64_t count = 0, last = -1;
  for (std::int64_t w = 0; w < blocks.windows(); ++w) {
    const auto at = static_cast<std::size_t>(w);
    if (blocks.tile_offset[at + 1] == blocks.tile_offset[at] || blocks.row_of(w) == last) continue;
    last = blocks.row_of(w);
    ++count;
  }
  return count;
}

FormatRow stored_row(const formats::FormatView& view, std::string name) {
  const formats::FormatLayout& layout = *view.layout;
  const formats::Blocks blocks = formats::blocks_of(view);
  const std::int64_t tiles = layout.tc_blocks(view);
  return {.name = std::move(name),
          .stored = true,
          .tc_blocks = tiles,
          .index_bytes = formats::index_bytes(view),
          .value_bytes = formats::value_bytes(view),
          .tc_entries = view.nnz - std::ssize(blocks.rows.columns),
          .loads = blocks.loads(),
          .tc_windows = windows_with_tiles(blocks),
          .tc_positions = tiles * layout.tile_rows * layout.tile_cols,
          .shares = core_shares(view)};
}

FormatRow stored_row(const formats::FormatView& view) {
  return stored_row(view, std::string(view.layout->name));
}

// Returns a ratio; null if it is undefined.
Json ratio(std::int64_t part, std::int64_t all) {
  return all > 0 ? Json(static_cast<double>(part) / static_cast<double>(all)) : Json(nullptr);
}

std::int64_t index_bytes_of(const std::vector<FormatRow>& rows, std::string_view name) {
  const auto found = std::ranges::find(rows, name, &FormatRow::name);
  return found == rows.end() ? 0 : found->index_bytes;
}

void add_tile_keys(Json& json, const FormatRow& row) {
  json.update({{"tc_blocks", row.tc_blocks}, {"mean_nnz_tc", mean_per_block(row)}, {"b_rows", row.loads}});
  json.update({{"tc_nnz", row.tc_entries},
               {"tc_windows", row.tc_windows},
               {"mean_nnz_window", ratio(row.tc_entries, row.tc_windows)},
               {"tc_utilization", ratio(row.tc_entries, row.tc_positions)}});
  if (row.shares) json["tensor_cores"] = to_json(row.shares);
}

}  // namespace

std::vector<FormatRow> comparison_rows(const formats::CsrView& a) {
  const auto value_size = static_cast<std::int64_t>(size_of(a.values.dtype));
  std::vector<FormatRow> rows;
  for (const auto size : {formats::coo_size, formats::csr32_size, formats::tcf_size})
    rows.push_back(comparison_row(size(a.rows, a.cols, a.nnz(), value_size)));
  return rows;
}

Result<FormatRow> measure_format(Work& work, const formats::CsrView& a, const FormatChoice& format) {
  const auto data = format.conversion()(a, &work.progress);
  if (data) return stored_row(data->view(), format.label);
  if (data.error().code != Errc::unsupported) return tl::unexpected(data.error());
  return FormatRow{.name = format.label, .stored = true, .refused = data.error().message};
}

Result<std::vector<FormatRow>> measure_formats(Work& work, const formats::CsrView& a,
                                               const FormatObserver& observe, const FormatMaker& make) {
  const auto seen = [&](const formats::FormatView& view) { return observe ? observe(view) : Status(); };
  std::vector<FormatRow> rows = comparison_rows(a);
  rows.push_back(stored_row(formats::as_format(a)));
  if (Status s = seen(formats::as_format(a)); !s) return tl::unexpected(std::move(s.error()));
  for (const formats::Converter& converter : formats::converters()) {
    if (converter.format == formats::kCsrLayout.name) continue;
    const auto data = make ? make(converter, a) : converter.from_csr(a, &work.progress);
    if (data) {
      rows.push_back(stored_row(data->view()));
      if (Status s = seen(data->view()); !s) return tl::unexpected(std::move(s.error()));
    } else if (data.error().code == Errc::unsupported) {
      rows.push_back(
          {.name = std::string(converter.format), .stored = true, .refused = data.error().message});
    } else {
      return tl::unexpected(data.error());
    }
  }
  return rows;
}

double mean_per_block(const FormatRow& row) {
  return row.tc_blocks > 0 ? static_cast<double>(row.tc_entries) / static_cast<double>(row.tc_blocks) : 0;
}

Json to_json(const std::vector<FormatRow>& rows) {
  Json list = Json::array();
  const std::int64_t coo = index_bytes_of(rows, "coo"), tcf = index_bytes_of(rows, "tcf");
  for (const FormatRow& row : rows) {
    Json json = {{"name", row.name}, {"stored", row.stored}};
    if (!row.refused.empty()) {
      json["refused"] = row.refused;
    } else {
      json.update({{"index_bytes", row.index_bytes}, {"value_bytes", row.value_bytes}});
      json["total_bytes"] = row.index_bytes + row.value_bytes;
      if (row.stored) add_tile_keys(json, row);
      json.update({{"over_coo", ratio(row.index_bytes, coo)}, {"over_tcf", ratio(row.index_bytes, tcf)}});
    }
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace sptile::tools
