// Division of the result among persistent blocks by Voltrix-SpMM (USENIX ATC 2025, section 3.2), computed on
// the host. Plain C++.
//
// The result is flattened: window after window, and in each window segment after segment of its columns. Cuts
// are positions of the flattened result in units of segments. Blocks own the ranges between consecutive cuts,
// so that no two blocks add to the same element of C.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/layout/bmat.hpp"

namespace sptile::runtime::cuda {

/// Coefficients of equation 1 times the width D of the result, for a slice of 512 bytes of the columns of B,
/// in units of a tile.
struct BulkCosts {
  double tile = 1;             ///< cf1 D: loads and multiplications of a tile
  double window = 2;           ///< cf2 D: stores of the rows of a window
  double fixed = 0;            ///< cf3: the kernel, equally divided among the blocks
  double reload = 1.0 / 64.0;  ///< second load of a tile's words, values and column indices; see bulk_penalty
};

/// Cost model of equation 1 over the flattened result. The view must outlive the model.
class BulkCostModel {
 public:
  /// Requires segments > 0 and positive costs of tiles and windows.
  BulkCostModel(const formats::BmatView& a, int segments, const BulkCosts& costs)
      : a_(a), segments_(segments), costs_(costs) {}

  [[nodiscard]] int segments() const { return segments_; }
  [[nodiscard]] const BulkCosts& costs() const { return costs_; }
  /// Returns the last position, the end of the result.
  [[nodiscard]] std::int64_t end() const { return segments_ * (std::ssize(a_.row_window_offset) - 1); }
  [[nodiscard]] std::int64_t tiles(std::int64_t window) const {
    return first_tile(window + 1) - first_tile(window);
  }
  /// Returns the cost of input and output before a position.
  [[nodiscard]] double before(std::int64_t position) const;
  /// Returns the cost of input and output between two positions.
  [[nodiscard]] double between(std::int64_t from, std::int64_t to) const { return before(to) - before(from); }
  /// Returns C_all of equation 1.
  [[nodiscard]] double total() const { return before(end()) + costs_.fixed; }

 private:
  [[nodiscard]] std::int64_t first_tile(std::int64_t window) const {
    return a_.row_window_offset[static_cast<std::size_t>(window)];
  }
  [[nodiscard]] double before_window(std::int64_t window) const {
    return costs_.tile * static_cast<double>(first_tile(window)) +
           costs_.window * static_cast<double>(window);
  }

  const formats::BmatView& a_;
  int segments_;
  BulkCosts costs_;
};

/// Ascending positions from 0 to the end of the result. Equal neighbours are an empty share.
using BulkCuts = std::vector<std::int64_t>;

/// A division of the result into `count` >= 1 shares: count + 1 cuts.
using BulkDivision = BulkCuts (*)(const BulkCostModel& model, std::int64_t count);

/// Cut i is the position whose cost is nearest to i / count of the total, or the edge of its window if that
/// is nearer than an eighth of the columns. Rounding of one cut does not move the others. O(count log
/// windows).
BulkCuts divide_by_targets(const BulkCostModel& model, std::int64_t count);

/// One share per window, for any `count` (section 2.2.2, output balancing, as in TC-GNN).
BulkCuts divide_by_windows(const BulkCostModel& model, std::int64_t count);

/// Shares of equal numbers of windows, whatever their cost: the unbalanced baseline of figure 15.
BulkCuts divide_by_window_counts(const BulkCostModel& model, std::int64_t count);

/// Algorithm 1: each cut advances until the cost since the previous, adjusted cut exceeds the average, and
/// then moves to an edge nearer than an eighth of the columns. The remainder is the last share. Unlike the
/// algorithm as printed, a cut does not move back to the previous one, because the cuts after it would not
/// leave a window of more than eight times the average. O(count log windows).
BulkCuts divide_greedily(const BulkCostModel& model, std::int64_t count);

/// Algorithm 1 refined by one generation of a genetic algorithm that minimizes bulk_objective (section 3.2.2,
/// which gives no operators). The population is Algorithm 1 for a decreasing average; children cross two
/// parents at one cut and move some cuts by a segment or to an edge. The result is at most as expensive as
/// that of Algorithm 1. Deterministic. O(count log windows).
BulkCuts divide_genetically(const BulkCostModel& model, std::int64_t count);

/// Returns the costs of the shares, C_i(S) of equation 2, which add up to the total.
std::vector<double> bulk_share_costs(const BulkCostModel& model, const BulkCuts& cuts);

/// Returns P(S) of equation 2: the second load of SparseA in windows that are cut, per share, as a fraction
/// of the total. The paper gives no formula.
double bulk_penalty(const BulkCostModel& model, const BulkCuts& cuts);

/// Returns the objective of equation 2: the maximum share of the total, plus the penalty.
double bulk_objective(const BulkCostModel& model, const BulkCuts& cuts);

}  // namespace sptile::runtime::cuda
