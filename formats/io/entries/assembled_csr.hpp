// Result of a reader: a CSR matrix.
#pragma once

#include <cstdint>
#include <optional>

#include "formats/core/csr.hpp"
#include "formats/core/narrow_values.hpp"
#include "formats/core/nonempty_rows.hpp"

namespace sptile::formats {

/// A CSR matrix with findings from its assembly.
struct AssembledCsr {
  Csr csr;
  std::int64_t duplicates = 0;                ///< number of entries added to another entry
  ValueLoss loss;                             ///< losses of summed values
  bool integers = false;                      ///< values are integers or counts
  std::optional<NonemptyRows> nonempty = {};  ///< rows stored in `csr`, if it stores only nonempty rows
};

}  // namespace sptile::formats
