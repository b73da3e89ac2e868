// The table of conversions. Everything goes through CSR; each format has one conversion from it and one to
// it.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "formats/core/buffer.hpp"
#include "formats/core/csr.hpp"
#include "formats/core/csr_view.hpp"
#include "formats/core/parameters.hpp"
#include "formats/core/progress.hpp"
#include "formats/layout/format_layout.hpp"

namespace sptile::formats {

/// Owns one matrix in one format.
struct FormatData {
  const FormatLayout* layout = nullptr;
  std::int64_t rows = 0, cols = 0, nnz = 0;
  std::vector<Array> arrays;  ///< in the order of layout->arrays
  Parameters parameters;      ///< how it was made: window_rows, thresholds

  [[nodiscard]] FormatView view() const;
};

/// One row of the conversion table.
struct Converter {
  std::string_view format;

  /// Builds the format. `a` must satisfy check_csr; values of any type are moved, never computed with.
  /// Parallel; O(nnz log window_rows). Errc::unsupported when a 32-bit array would overflow, naming the array
  /// and the format; Errc::io when cancelled.
  Result<FormatData> (*from_csr)(const CsrView& a, Progress* progress);

  /// Rebuilds exactly the matrix that was converted. The view must satisfy check. Parallel; O(nnz).
  Result<Csr> (*to_csr)(const FormatView& view);

  /// from_csr with this value of the layout's parameter; null where it has none. Errc::usage for a value that
  /// it does not take.
  Result<FormatData> (*from_csr_at)(const CsrView& a, int parameter, Progress* progress) = nullptr;
};

/// Lists one converter per row of layouts(), in the same order.
std::span<const Converter> converters();

/// Finds a converter by format name; nullptr when there is none.
const Converter* find_converter(std::string_view format);

/// One conversion from CSR: Converter::from_csr, or the same with parameters.
using Conversion = std::function<Result<FormatData>(const CsrView& a, Progress* progress)>;

/// For each stored value of what `conversion` makes, its position in the values of the source matrix; several
/// value arrays (rs_tile) follow each other. `a` is the (reordered) matrix that the format is built from and
/// `source_position[k]` is where its k-th entry stands in the original. The same conversion moves the
/// positions as if they were values, so the result is right by construction: conversions may heed the type of
/// the values, so the positions move in words of its size, as many times as they have words.
Result<Array> value_source(const Conversion& conversion, const CsrView& a,
                           std::span<const std::int64_t> source_position);

}  // namespace sptile::formats
