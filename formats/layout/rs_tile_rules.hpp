// By which rules RS-Tile parts rows and splits windows (RSH-SpMM, Algorithm 1 and section 3.3.3): what every
// conversion must decide alike, wherever it runs.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "formats/core/parameters.hpp"

namespace sptile::formats {

/// What makes a short row residual. The increment of a row is the number of its columns that the next seven
/// rows do not have. The published pseudo-code and prose disagree on its sign; see
/// docs/design/decisions/0003-rs-tile-column-increment-rule.md.
enum class IncrementRule {
  none,   ///< no row is residual
  small,  ///< increment < tau_inc: the pseudo-code
  large,  ///< increment >= tau_inc: the prose
};

inline constexpr std::string_view kIncrementRuleNames[] = {"none", "small_increment", "large_increment"};

/// Most entries of a row that may be residual: where the paper's figure 14 has its plateau.
inline constexpr int kLargestTauNnz = 4;

/// A rule with its threshold, and what it gives.
struct RuleOutcome {
  IncrementRule rule = IncrementRule::none;
  int tau_inc = 0;
  std::int64_t tc_blocks = 0;
  std::int64_t residual_entries = 0;

  /// Rows of B that a multiplication fetches: 8 per block and one per residual entry.
  [[nodiscard]] std::int64_t b_rows() const { return 8 * tc_blocks + residual_entries; }
};

/// The best threshold of each rule, and the best rule.
struct RuleChoice {
  std::array<RuleOutcome, 3> outcomes;  ///< per IncrementRule
  IncrementRule chosen = IncrementRule::none;

  [[nodiscard]] const RuleOutcome& outcome() const { return outcomes[static_cast<std::size_t>(chosen)]; }

  /// Says for a matrix without short rows, where the rules have nothing to decide, how many blocks its
  /// windows gave.
  void set_tc_blocks(std::int64_t tc_blocks);
};

/// Rules with thresholds to try for rows of at most tau_nnz entries: no residual rows, and both rules with
/// every tau_inc from 1 to tau_nnz + 1.
constexpr int rule_count(int tau_nnz) { return tau_nnz == 0 ? 1 : 1 + 2 * (tau_nnz + 1); }
constexpr RuleOutcome rule_to_try(int i) {
  return {static_cast<IncrementRule>(i == 0 ? 0 : 1 + (i - 1) % 2), (i + 1) / 2, 0, 0};
}

/// Chooses among all rules that were tried, in the order of rule_to_try. For each rule the threshold and then
/// among the rules the one that fetches the fewest rows of B wins, then the fewest blocks, then the first.
RuleChoice choose_rule(std::span<const RuleOutcome> tried);

/// Gives tau_nnz from the entries in rows of 0 to 4 entries: the largest value up to 4 such that the rows
/// with at most so many entries hold at most half of all `nnz` entries; 0 when no row is that short, or when
/// rows with one entry alone hold more.
int tau_nnz_of(std::span<const std::int64_t, kLargestTauNnz + 1> entries_in_rows_of, std::int64_t nnz);

/// Describes the choice for JSON and bundles.
Parameters rule_parameters(int tau_nnz, const RuleChoice& choice);

/// Gives the number of tiles above which a window is split: the paper names matrix size, sparsity and tile
/// expansion, but no number. Here it is the largest of
/// - 32 tiles: less work is not worth the second pass that adds up the pieces;
/// - 8 times the mean tiles per window: shorter windows do not stand out;
/// - the 1024th part of all tiles: the fair share of a worker on a device that runs about a thousand blocks.
std::int64_t split_limit(std::int64_t tiles, std::int64_t windows);

/// Describes a split: `split` windows became `pieces` pieces.
Parameters split_parameters(std::int64_t limit, std::int64_t split, std::int64_t pieces);

}  // namespace sptile::formats
