// Result of the readers of complete matrices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/core/csr.hpp"
#include "formats/core/error.hpp"
#include "formats/core/nonempty_rows.hpp"
#include "formats/core/value_loss.hpp"

namespace sptile::formats {

/// A matrix read from a file. Its value type represents all values of the file; text and integers become f64.
struct ReadMatrix {
  Csr csr;
  std::int64_t duplicates = 0;                ///< number of entries added to another entry
  std::string source_sha256;                  ///< hash of the stored bytes, if requested
  std::vector<std::string> notes;             ///< assumptions and ignored data, one sentence each
  ValueLoss loss = {};                        ///< values that the result's type cannot represent
  bool integers = false;                      ///< the values are integers
  std::optional<NonemptyRows> nonempty = {};  ///< rows stored in `csr`, if not all are
};

}  // namespace sptile::formats
