// Which rows of RS-Tile go to tensor-core windows and which to the residual part (RSH-SpMM, Algorithm 1).
#pragma once

#include <cstdint>
#include <vector>

#include "formats/core/csr_view.hpp"
#include "formats/core/parameters.hpp"
#include "formats/layout/rs_tile_rules.hpp"

namespace sptile::formats {

struct RowPartition : RuleChoice {
  int tau_nnz = 0;                          ///< residual rows have at most so many entries
  std::vector<std::int32_t> windows;        ///< first rows, ascending
  std::vector<std::int32_t> residual_rows;  ///< ascending

  /// Tells how many blocks the windows gave. Without short rows the rules have nothing to decide, so their
  /// blocks are only counted here; with short rows it verifies the count.
  void set_tc_blocks(std::int64_t tc_blocks);

  /// Describes the choice for JSON and bundles.
  [[nodiscard]] Parameters parameters() const;
};

/// Estimates tau_nnz; see tau_nnz_of.
int estimate_tau_nnz(const CsrView& a);

/// Partitions the rows of `a` by the best rule; see choose_rule. Parallel; O(entries + rows).
RowPartition partition_rows(const CsrView& a);

}  // namespace sptile::formats
