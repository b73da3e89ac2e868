// The files beside a graph that make it a data set to train on.
#pragma once

#include <optional>
#include <string>

#include "formats/io/stream/output_bytes.hpp"
#include "tools/gen/node_data.hpp"

namespace sptile::tools::gen {

/// features.mtx and nodes.tsv in the folder of a graph, compressed as the graph is. The folder's graph is
/// graph.mtx to those who read it.
class DataSet {
 public:
  /// Opens the outputs, so that a bad one costs no waiting; Errc::usage for those that exist, without
  /// `force`.
  static Result<DataSet> create(const std::string& graph, formats::Placing placing);

  /// Writes both.
  Status write(const NodeData& nodes);

  [[nodiscard]] const std::string& features() const { return features_; }
  [[nodiscard]] const std::string& labels() const { return labels_; }

 private:
  DataSet() = default;

  std::string features_, labels_;
  formats::Placing placing_ = false;
  std::optional<formats::OutputBytes> output_;  // of the labels
};

}  // namespace sptile::tools::gen
