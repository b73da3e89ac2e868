// The table of conversions. Every conversion goes through CSR: each format has one from CSR and one to CSR.
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
  Parameters parameters;      ///< conversion parameters: window_rows, thresholds

  [[nodiscard]] FormatView view() const;
};

/// One row of the conversion table.
struct Converter {
  std::string_view format;

  /// Builds the format from `a`, which must satisfy check_csr. Values of any type are moved, never computed
  /// with. Errc::unsupported if a 32-bit array would overflow, naming the array and the format; Errc::io when
  /// cancelled. Parallel; O(nnz log window_rows).
  Result<FormatData> (*from_csr)(const CsrView& a, Progress* progress);

  /// Restores exactly the matrix that was converted. The view must satisfy check. Parallel; O(nnz).
  Result<Csr> (*to_csr)(const FormatView& view);

  /// Works like from_csr with this value of the layout's parameter; null if the format has no parameter.
  /// Errc::usage for an invalid value.
  Result<FormatData> (*from_csr_at)(const CsrView& a, int parameter, Progress* progress) = nullptr;
};

/// Returns one converter per row of layouts(), in the same order.
std::span<const Converter> converters();

/// Returns the converter of a format, or nullptr.
const Converter* find_converter(std::string_view format);

/// A conversion from CSR: Converter::from_csr, with or without parameters.
using Conversion = std::function<Result<FormatData>(const CsrView& a, Progress* progress)>;

/// Returns the position in the source matrix of each stored value of the format that `conversion` makes; the
/// value arrays of rs_tile are concatenated. `a` is the (reordered) matrix to convert, and source_position[k]
/// is the original position of its nonzero k. The conversion itself moves the positions in place of values,
/// so the result is right by construction. Conversions may depend on the value type; positions are therefore
/// split into words of its size, and each word takes one pass.
Result<Array> value_source(const Conversion& conversion, const CsrView& a,
                           std::span<const std::int64_t> source_position);

}  // namespace sptile::formats
