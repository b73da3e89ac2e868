// Which rows of RS-Tile go to tensor-core windows and which to the residual part (RSH-SpMM, Algorithm 1).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/csr_view.hpp"
#include "formats/parameters.hpp"

namespace sptile::formats {

/// What makes a short row residual. The increment of a row is the number of its columns that the next seven
/// rows do not have. The published pseudo-code and prose disagree on its sign; see
/// docs/decisions/0003-rs-tile-column-increment-rule.md.
enum class IncrementRule {
  none,   ///< no row is residual
  small,  ///< increment < tau_inc: the pseudo-code
  large,  ///< increment >= tau_inc: the prose
};

inline constexpr std::string_view kIncrementRuleNames[] = {"none", "small_increment", "large_increment"};

/// The best partition that a rule gives.
struct RuleOutcome {
  IncrementRule rule = IncrementRule::none;
  int tau_inc = 0;
  std::int64_t tc_blocks = 0;
  std::int64_t residual_entries = 0;

  /// Rows of B that a multiplication fetches: 8 per block and one per residual entry.
  [[nodiscard]] std::int64_t b_rows() const { return 8 * tc_blocks + residual_entries; }
};

struct RowPartition {
  int tau_nnz = 0;                      ///< residual rows have at most so many entries
  std::array<RuleOutcome, 3> outcomes;  ///< per IncrementRule
  IncrementRule chosen = IncrementRule::none;
  std::vector<std::int32_t> windows;        ///< first rows, ascending
  std::vector<std::int32_t> residual_rows;  ///< ascending

  [[nodiscard]] const RuleOutcome& outcome() const { return outcomes[static_cast<std::size_t>(chosen)]; }

  /// Tells how many blocks the windows gave. Without short rows the rules have nothing to decide, so their
  /// blocks are only counted here; with short rows it verifies the count.
  void set_tc_blocks(std::int64_t tc_blocks);

  /// Describes the choice for JSON and bundles.
  [[nodiscard]] Parameters parameters() const;
};

/// Estimates tau_nnz: the largest value up to 4 (where the paper's figure 14 has its plateau) such that the
/// rows with at most so many entries hold at most half of all entries; 0 when no row is that short, or when
/// rows with one entry alone hold more.
int estimate_tau_nnz(const CsrView& a);

/// Partitions the rows of `a`. For both rules tau_inc is the value from 1 to tau_nnz + 1 that fetches the
/// fewest rows of B; among the rules (and having no residual rows) too the fewest rows of B win, then the
/// fewest blocks, then the simpler rule. Parallel; O(entries + rows).
RowPartition partition_rows(const CsrView& a);

}  // namespace sptile::formats
