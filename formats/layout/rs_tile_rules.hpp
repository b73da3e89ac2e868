// Selection of residual rows and splitting of windows in RS-Tile (RSH-SpMM, Algorithm 1 and section 3.3.3),
// for all converters.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "formats/core/parameters.hpp"
#include "formats/layout/packed_parameter.hpp"
#include "formats/layout/rs_tile.hpp"

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

/// Largest estimate of tau_nnz, the maximum nonzeros of a residual row: the plateau in figure 14 of the
/// paper.
inline constexpr int kLargestTauNnz = 4;

/// Settings of a conversion; those without a value are chosen for the matrix.
struct RsTileSetting {
  std::optional<IncrementRule> rule;
  std::optional<int> tau_nnz, tau_inc;
  std::optional<std::int64_t> split;  ///< maximum tiles of a window that is not split

  /// Returns tau_nnz for a matrix with `cols` columns: at most their number.
  [[nodiscard]] std::optional<int> tau_nnz_for(std::int64_t cols) const {
    if (!tau_nnz) return {};
    return static_cast<int>(std::min<std::int64_t>(*tau_nnz, cols));
  }
};

inline constexpr std::string_view kRsTileRules[] = {"auto", kIncrementRuleNames[0], kIncrementRuleNames[1],
                                                    kIncrementRuleNames[2]};
inline constexpr std::string_view kRsTileAuto[] = {"auto"}, kRsTileSplits[] = {"auto", "none"};

/// Fields of the parameter of rs_tile, in the order of rs_tile_setting.
inline constexpr ParameterField kRsTileFields[] = {
    {"rule", "criterion that makes a short row residual", 0, 2, kRsTileRules},
    {"tau_nnz", "maximum nonzeros of a residual row", 2, 4, kRsTileAuto, 0},
    {"tau_inc", "threshold of the increment", 6, 4, kRsTileAuto, 1},
    {"split", "maximum tiles of a window that is not split", 10, 21, kRsTileSplits, 1}};
inline constexpr int kRsTileMaxParameter = (1 << 10) - 1 + ((1 << 21) - 1) * (1 << 10);

/// Largest tau_nnz that a conversion accepts.
inline constexpr int kRsTileMaxTauNnz = kRsTileFields[1].max();

/// Decodes the parameter of rs_tile. The split `none` is the largest integer.
RsTileSetting rs_tile_setting(int parameter);

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

/// Returns the number of candidate rules for rows of at most tau_nnz nonzeros.
constexpr int rule_count(int tau_nnz) { return tau_nnz == 0 ? 1 : 1 + 2 * (tau_nnz + 1); }

/// Returns the candidate rules for rows of at most tau_nnz nonzeros: no residual rows, and both rules with
/// every tau_inc from 1 to tau_nnz + 1, or with the tau_inc of the setting. At most rule_count(tau_nnz).
std::vector<RuleOutcome> rules_to_try(int tau_nnz, const RsTileSetting& setting);

/// Returns the best of the outcomes `tried`, in the order of rules_to_try: first the threshold of each rule,
/// then the rule, unless the setting has one. The fewest loaded rows of B win, then the fewest blocks, then
/// the first candidate.
RuleChoice choose_rule(std::span<const RuleOutcome> tried, const RsTileSetting& setting);

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
/// The setting replaces it.
std::int64_t split_limit(std::int64_t tiles, std::int64_t windows, const RsTileSetting& setting = {});

/// Describes the split of `split` windows into `pieces` pieces.
Parameters split_parameters(std::int64_t limit, std::int64_t split, std::int64_t pieces);

}  // namespace sptile::formats
