// What nodes of a graph know beside their edges: features, a class, and whether to train or to test on them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/core/csr.hpp"
#include "formats/io/stream/output_bytes.hpp"

namespace sptile::tools::gen {

enum class Split : std::uint8_t { train, val, test };

/// One row, label and split for each node, in the order of the graph's rows.
struct NodeData {
  formats::Csr features;             ///< nodes x features, pattern
  std::vector<std::int32_t> labels;  ///< classes count from 0
  std::vector<Split> splits;
};

/// Puts node new_to_old[i] at place i.
NodeData permute_nodes(const NodeData& nodes, const std::vector<std::int32_t>& new_to_old);

/// Writes "label<tab>split" for each node below a line of these two words; does not commit.
Status write_labels(const NodeData& nodes, formats::OutputBytes& output);

}  // namespace sptile::tools::gen
