// Partitions the rows of RS-Tile into tensor-core windows and the residual part (RSH-SpMM, Algorithm 1).
#pragma once

#include <cstdint>
#include <vector>

#include "formats/core/csr_view.hpp"
#include "formats/core/parameters.hpp"
#include "formats/layout/rs_tile_rules.hpp"

namespace sptile::formats {

struct RowPartition : RuleChoice {
  int tau_nnz = 0;                          ///< maximum nonzeros of a residual row
  std::vector<std::int32_t> windows;        ///< first rows, ascending
  std::vector<std::int32_t> residual_rows;  ///< ascending

  /// Sets the number of blocks of the windows if there are no short rows, and thus no evaluated rules.
  /// Otherwise asserts it.
  void set_tc_blocks(std::int64_t tc_blocks);

  /// Describes the choice for JSON output and bundles.
  [[nodiscard]] Parameters parameters() const;
};

/// Estimates tau_nnz; see tau_nnz_of.
int estimate_tau_nnz(const CsrView& a);

/// Partitions the rows of `a` by the rule of the setting, or the best one; see choose_rule. Parallel; O(nnz +
/// rows).
RowPartition partition_rows(const CsrView& a, const RsTileSetting& setting = {});

}  // namespace sptile::formats
