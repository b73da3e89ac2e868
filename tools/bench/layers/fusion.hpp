// What fusing gains: sptile's operations in one kernel, and the same by several launches on one stream.
#pragma once

#include <string>
#include <vector>

#include "tools/bench/layers/sides.hpp"

namespace sptile::tools::layers {

/// Both ways of the same, and what they take of memory: operands, results and what stands between.
struct Fusion {
  Step fused = {}, apart = {};
  Step reference = {};  ///< in double
  std::size_t fused_bytes = 0, apart_bytes = 0;
  std::size_t operand_bytes = 0;  ///< what any way needs: operands, results, statistics of rows
  std::string apart_format = {};
};

/// The arrays of the results.
inline constexpr const char *kFusedResult = "fused result", *kApartResult = "result";

/// C = A B W with `h` columns.
Fusion fused_update(const Request& request, const DeviceGraph& graph, const Shape& shape,
                    Arrays<float>& arrays, Arrays<double>& exact);

/// Attention with shape.d features of X, Y and V in each of shape.heads.
Fusion fused_attention(const Request& request, Score score, const DeviceGraph& graph, const Shape& shape,
                       Arrays<float>& arrays, Arrays<double>& exact);

}  // namespace sptile::tools::layers
