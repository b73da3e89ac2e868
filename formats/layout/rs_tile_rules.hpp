// Selection of residual rows and splitting of windows in RS-Tile (RSH-SpMM, Algorithm 1 and section 3.3.3),
// for all converters.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "formats/core/parameters.hpp"

namespace sptile::formats {

/// Criterion that makes a short row residual. The increment of a row is the number of its columns that are
/// absent from the next seven rows. The published pseudocode and text disagree on the sign of the comparison;
/// see docs/design/decisions/0003-rs-tile-column-increment-rule.md.
enum class IncrementRule {
  none,   ///< no row is residual
  small,  ///< increment < tau_inc: the pseudocode
  large,  ///< increment >= tau_inc: the text
};

inline constexpr std::string_view kIncrementRuleNames[] = {"none", "small_increment", "large_increment"};

/// Maximum nonzeros of a residual row: the plateau in figure 14 of the paper.
inline constexpr int kLargestTauNnz = 4;

/// A rule with its threshold and result.
struct RuleOutcome {
  IncrementRule rule = IncrementRule::none;
  int tau_inc = 0;
  std::int64_t tc_blocks = 0;
  std::int64_t residual_entries = 0;

  /// Returns the number of rows of B that SpMM loads: 8 per block and one per residual nonzero.
  [[nodiscard]] std::int64_t b_rows() const { return 8 * tc_blocks + residual_entries; }
};

/// Best threshold of each rule, and the best rule.
struct RuleChoice {
  std::array<RuleOutcome, 3> outcomes;  ///< indexed by IncrementRule
  IncrementRule chosen = IncrementRule::none;

  [[nodiscard]] const RuleOutcome& outcome() const { return outcomes[static_cast<std::size_t>(chosen)]; }

  /// Sets the number of blocks of a matrix without short rows, for which all rules are equivalent.
  void set_tc_blocks(std::int64_t tc_blocks);
};

/// Candidate rules for rows of at most tau_nnz nonzeros: no residual rows, and both rules with every tau_inc
/// from 1 to tau_nnz + 1.
constexpr int rule_count(int tau_nnz) { return tau_nnz == 0 ? 1 : 1 + 2 * (tau_nnz + 1); }
constexpr RuleOutcome rule_to_try(int i) {
  return {static_cast<IncrementRule>(i == 0 ? 0 : 1 + (i - 1) % 2), (i + 1) / 2, 0, 0};
}

/// Returns the best of the outcomes `tried`, in the order of rule_to_try: first the threshold of each rule,
/// then the rule. The fewest loaded rows of B win, then the fewest blocks, then the first candidate.
RuleChoice choose_rule(std::span<const RuleOutcome> tried);

/// Computes tau_nnz from the number of nonzeros in rows with 0 to 4 nonzeros: the largest value up to 4 such
/// that rows with at most tau_nnz nonzeros hold at most half of all nonzeros. 0 if even rows with one nonzero
/// hold more.
int tau_nnz_of(std::span<const std::int64_t, kLargestTauNnz + 1> entries_in_rows_of, std::int64_t nnz);

/// Describes the choice for JSON output and bundles.
Parameters rule_parameters(int tau_nnz, const RuleChoice& choice);

/// Returns the number of tiles above which a window is split. The paper names matrix size, sparsity and tile
/// expansion, but no number. The limit is the maximum of
/// - 32 tiles: less work does not pay for the second pass that sums the pieces;
/// - 8 times the mean tiles per window: shorter windows cause little imbalance;
/// - 1/1024 of all tiles: the fair share of a worker on a device that runs about a thousand blocks.
std::int64_t split_limit(std::int64_t tiles, std::int64_t windows);

/// Describes the split of `split` windows into `pieces` pieces.
Parameters split_parameters(std::int64_t limit, std::int64_t split, std::int64_t pieces);

}  // namespace sptile::formats
