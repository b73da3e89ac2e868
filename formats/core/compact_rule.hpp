// The matrices whose columns are renumbered for algorithms that keep arrays indexed by column, on the CPU
// (compact_columns.hpp) and on devices.
#pragma once

#include <cstdint>

namespace sptile::formats {

/// Columns are renumbered above this multiple of rows + nnz. Below it, arrays indexed by column are cheaper
/// than the sort.
inline constexpr std::int64_t kColumnsPerEntry = 4;

constexpr bool renumbers_columns(std::int64_t rows, std::int64_t cols, std::int64_t nnz) {
  return cols > kColumnsPerEntry * (rows + nnz + 1);
}

/// Returns the width with `used` nonempty columns. The matrix stays wider than tall, so that it does not
/// become square.
constexpr std::int64_t renumbered_cols(std::int64_t rows, std::int64_t used) {
  return used > rows ? used : rows + 1;
}

}  // namespace sptile::formats
