// Helpers that read Matrix Market text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "formats/io/matrix_market/matrix_market_reader.hpp"

namespace sptile::formats {

inline MtxReadOptions with_dtype(DType dtype) {
  MtxReadOptions options;
  options.dtype = dtype;
  return options;
}

inline Result<MtxMatrix> read_text(std::string_view text, const MtxReadOptions& options = {},
                                   const MtxReadSizes& sizes = {}) {
  return read_matrix_market(InputBytes::from_memory(text, "a.mtx"), options, sizes);
}

/// Returns "WHERE: MESSAGE" of an error, "" of a success.
inline std::string error_of(const Result<MtxMatrix>& result) {
  return result ? std::string() : result.error().text();
}

using Entries = std::map<std::pair<std::int64_t, std::int64_t>, double>;

/// Returns the entries of a matrix with double values, or of a pattern (values 1), by 0-based position.
inline Entries entries_of(const CsrView& a) {
  Entries entries;
  for (std::size_t row = 0; row < static_cast<std::size_t>(a.rows); ++row)
    for (auto i = static_cast<std::size_t>(a.row_ptr[row]); i < static_cast<std::size_t>(a.row_ptr[row + 1]);
         ++i)
      entries[{static_cast<std::int64_t>(row), a.col_idx[i]}] =
          a.is_pattern() ? 1.0 : a.values.as<double>()[i];
  return entries;
}

}  // namespace sptile::formats
