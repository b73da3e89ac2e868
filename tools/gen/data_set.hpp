// Files that extend a graph to a data set for training.
#pragma once

#include <optional>
#include <string>

#include "formats/io/stream/output_bytes.hpp"
#include "tools/gen/node_data.hpp"

namespace sptile::tools::gen {

/// features.mtx and nodes.tsv in the directory of a graph, compressed like the graph. Readers expect the
/// graph as graph.mtx.
class DataSet {
 public:
  /// Opens the outputs early. Errc::usage if they exist and `force` is not set.
  static Result<DataSet> create(const std::string& graph, formats::Placing placing);

  /// Writes both files.
  Status write(const NodeData& nodes);

  [[nodiscard]] const std::string& features() const { return features_; }
  [[nodiscard]] const std::string& labels() const { return labels_; }

 private:
  DataSet() = default;

  std::string features_, labels_;
  formats::Placing placing_ = false;
  std::optional<formats::OutputBytes> output_;  // output of the labels
};

}  // namespace sptile::tools::gen
