#include "tools/stats/format_sizes.hpp"

#include "formats/core/sizes.hpp"
#include "formats/layout/blocks.hpp"
#include "formats/layout/csr.hpp"
#include "tools/cli/json.hpp"

namespace sptile::tools {
namespace {

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
          blocks.loads(),
          core_shares(view)};
}

}  // namespace

Result<std::vector<FormatRow>> measure_formats(Work& work, const formats::CsrView& a,
                                               const FormatObserver& observe, const FormatMaker& make) {
  const auto seen = [&](const formats::FormatView& view) { return observe ? observe(view) : Status(); };
  const auto value_size = static_cast<std::int64_t>(size_of(a.values.dtype));
  std::vector<FormatRow> rows = {comparison_row(formats::coo_size(a.rows, a.cols, a.nnz(), value_size)),
                                 comparison_row(formats::tcf_size(a.rows, a.cols, a.nnz(), value_size)),
                                 stored_row(formats::as_format(a))};
  if (Status s = seen(formats::as_format(a)); !s) return tl::unexpected(std::move(s.error()));
  for (const formats::Converter& converter : formats::converters()) {
    if (converter.format == formats::kCsrLayout.name) continue;
    const auto data = make ? make(converter, a) : converter.from_csr(a, &work.progress);
    if (data) {
      rows.push_back(stored_row(data->view()));
      if (Status s = seen(data->view()); !s) return tl::unexpected(std::move(s.error()));
    } else if (data.error().code == Errc::unsupported) {
      rows.push_back({std::string(converter.format), true, 0, 0, 0, data.error().message});
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
  for (const FormatRow& row : rows) {
    Json json = {{"name", row.name}, {"stored", row.stored}};
    if (!row.refused.empty()) {
      json["refused"] = row.refused;
    } else {
      json.update({{"index_bytes", row.index_bytes}, {"value_bytes", row.value_bytes}});
      json["total_bytes"] = row.index_bytes + row.value_bytes;
      if (row.stored)
        json.update(
            {{"tc_blocks", row.tc_blocks}, {"mean_nnz_tc", mean_per_block(row)}, {"b_rows", row.loads}});
      if (row.shares) json["tensor_cores"] = to_json(row.shares);
    }
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace sptile::tools
