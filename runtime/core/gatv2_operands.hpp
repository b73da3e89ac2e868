// Operand indices of GATv2 attention and its gradients.
#pragma once

#include "runtime/core/attention_operands.hpp"

namespace sptile::runtime {

/// Operand indices shared by all operations of gatv2. X, Y, bias and statistics have the indices of
/// attention.
inline constexpr int kGatv2Vector = 2, kGatv2Factors = 5;
/// Rows of entries: e, or the features f from which the operations gatv2_edges... make e = W f.
inline constexpr int kGatv2Edges = 6, kGatv2W = 7;
/// The result of gatv2 and of gatv2_edges.
inline constexpr int kGatv2Out = 7, kGatv2EdgesOut = 8;

/// Maximum number of features per entry of the operations gatv2_edges...
inline constexpr int kMostFeatures = 16;

/// Results of the gradient for rows.
inline constexpr int kGatv2Weights = 10, kGatv2EdgesGradient = 11, kGatv2VectorGradient = 12;
/// Gradients with respect to scores, a result of the gradient for rows of gatv2_edges.
inline constexpr int kGatv2EdgesDs = 11;

/// Operands of a gradient with respect to rows (plan of A) or columns (plan of A^T), whose computation is the
/// same: a row of the plan has the row `own`, and each entry refers to the row `other`.
struct Gatv2Side {
  int own, other;
  int dout, delta;
  int gradient;             ///< gradient of `own`; the last operand
  bool of_columns = false;  ///< statistics, dout and delta belong to the other row (the column of A^T)
  int out = -1;             ///< the result of the forward pass; rows have it
  bool projects = false;    ///< e = W f, see kGatv2Edges

  /// Returns whether entries may have rows.
  [[nodiscard]] constexpr bool with_edges() const { return projects || !of_columns; }
};
inline constexpr Gatv2Side kGatv2Rows = {
    .own = kAttentionX, .other = kAttentionY, .dout = 8, .delta = 9, .gradient = 13, .out = kGatv2Out};
inline constexpr Gatv2Side kGatv2Columns = {
    .own = kAttentionY, .other = kAttentionX, .dout = 6, .delta = 7, .gradient = 8, .of_columns = true};
inline constexpr Gatv2Side kGatv2EdgesRows = {.own = kAttentionX,
                                              .other = kAttentionY,
                                              .dout = 9,
                                              .delta = 10,
                                              .gradient = 13,
                                              .out = kGatv2EdgesOut,
                                              .projects = true};
inline constexpr Gatv2Side kGatv2EdgesColumns = {.own = kAttentionY,
                                                 .other = kAttentionX,
                                                 .dout = 8,
                                                 .delta = 9,
                                                 .gradient = 10,
                                                 .of_columns = true,
                                                 .projects = true};

/// Operands of the gradient with respect to W. X, Y and a have the indices above.
struct Gatv2Features {
  int edges, w;
};
inline constexpr Gatv2Features kGatv2Features = {kGatv2Edges, kGatv2W}, kGatv2WeightsFeatures = {4, 5};
inline constexpr int kGatv2WeightsDs = 3, kGatv2WeightsGradient = 6;

}  // namespace sptile::runtime
