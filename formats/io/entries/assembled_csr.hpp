// The CSR matrix that a reader assembles.
#pragma once

#include <cstdint>
#include <optional>

#include "formats/core/csr.hpp"
#include "formats/core/narrow_values.hpp"
#include "formats/core/nonempty_rows.hpp"

namespace sptile::formats {

/// A matrix in CSR with what was found while it was assembled.
struct AssembledCsr {
  Csr csr;
  std::int64_t duplicates = 0;                ///< entries that were added to another entry
  ValueLoss loss;                             ///< of the sums
  bool integers = false;                      ///< the values are integers or counts
  std::optional<NonemptyRows> nonempty = {};  ///< the rows in `csr`, if it has nonempty rows only
};

}  // namespace sptile::formats
