// Node data of a graph: features, a class, and the split into training, validation and test.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/core/csr.hpp"
#include "formats/io/stream/output_bytes.hpp"

namespace sptile::tools::gen {

enum class Split : std::uint8_t { train, val, test };

/// One row of features, label and split per node, in the order of the graph's rows.
struct NodeData {
  formats::Csr features;             ///< nodes x features, pattern
  std::vector<std::int32_t> labels;  ///< classes count from 0
  std::vector<Split> splits;
};

/// Moves node new_to_old[i] to position i.
NodeData permute_nodes(const NodeData& nodes, const std::vector<std::int32_t>& new_to_old);

/// Writes a header line "label<tab>split" and one line per node. Does not commit.
Status write_labels(const NodeData& nodes, formats::OutputBytes& output);

}  // namespace sptile::tools::gen
