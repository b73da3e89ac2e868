#include "tools/gen/data_set.hpp"

#include <filesystem>

#include "formats/io/matrix_market/matrix_market.hpp"
#include "formats/io/stream/compress.hpp"

namespace sptile::tools::gen {

Result<DataSet> DataSet::create(const std::string& graph, formats::Placing placing) {
  const formats::Compression* const compression = formats::find_compression(graph);
  const std::string ending(compression == nullptr ? "" : compression->ending);
  const std::filesystem::path folder = std::filesystem::path(graph).parent_path();
  DataSet set;
  set.features_ = folder / ("features.mtx" + ending);
  set.labels_ = folder / ("nodes.tsv" + ending);
  set.placing_ = placing;
  if (set.features_ == graph)
    return fail(Errc::usage, "the data set uses this name for its features; name the graph graph.mtx", graph);
  if (const auto probe = formats::OutputBytes::create(set.features_, placing); !probe)
    return tl::unexpected(probe.error());
  Result<formats::OutputBytes> labels = formats::OutputBytes::create(set.labels_, placing);
  if (!labels) return tl::unexpected(labels.error());
  set.output_ = std::move(*labels);
  return set;
}

Status DataSet::write(const NodeData& nodes) {
  if (Status s =
          formats::write_matrix_market(nodes.features.view(), features_,
                                       {.force = placing_.force, .group = placing_.group, .comment = {}});
      !s)
    return s;
  if (Status s = write_labels(nodes, *output_); !s) return s;
  return output_->commit();
}

}  // namespace sptile::tools::gen
