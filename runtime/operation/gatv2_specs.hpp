// Operands that the operations of GATv2 attention share.
#pragma once

#include "runtime/operation/operation.hpp"

namespace sptile::runtime {

inline constexpr OperandSpec kGatv2Bias = {.name = "bias", .extent = Extent::entries, .optional = true};
inline constexpr OperandSpec kGatv2Factor = {.name = "factors", .extent = Extent::entries, .optional = true};
inline constexpr OperandSpec kGatv2VectorRows = {
    .name = "da_rows", .extent = Extent::rows, .result = true, .element = Element::statistic};

constexpr OperandSpec gatv2_statistics(Extent extent, bool result) {
  return {.name = "statistics",
          .extent = extent,
          .result = result,
          .width = Width::two,
          .optional = result,
          .element = Element::statistic};
}
constexpr OperandSpec gatv2_delta(Extent extent, bool result) {
  return {.name = "delta",
          .extent = extent,
          .result = result,
          .width = Width::one,
          .element = Element::statistic};
}

/// Works of the forward pass and of the gradients for rows and columns: no array of gatv2 without edges has
/// the size of the entries.
inline Work gatv2_work(const ProductSizes& s) {
  return {static_cast<double>(s.rows) * s.heads * 2 * s.n * s.result_bytes};
}
inline Work gatv2_rows_work(const ProductSizes& s) {
  return {static_cast<double>(s.rows) * s.heads * 5 * s.n * s.result_bytes};
}

}  // namespace sptile::runtime
