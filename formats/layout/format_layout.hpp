// Description of a stored format: named arrays, checks and sizes, shared by converters, the bundle writer,
// the runtime and the tests.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "formats/core/array_view.hpp"
#include "formats/core/error.hpp"

namespace sptile::formats {

/// One array of a format.
struct ArraySpec {
  std::string_view name;       ///< dataset name in bundles: "tc_local_bit"
  DType dtype;                 ///< element type; ignored if holds_values
  bool holds_values = false;   ///< elements have the matrix's value type; absent for a pattern matrix
  bool holds_columns = false;  ///< column ids: read by kernels, but not needed to partition the work
};

inline constexpr int kMaxArrays = 12;

/// Index of an array of a format, converted from the format's own enum (CsrArray::col_idx).
struct ArrayIndex {
  std::size_t value;

  template <class Enum>
  requires(std::is_enum_v<Enum>) constexpr ArrayIndex(Enum array) : value(static_cast<std::size_t>(array)) {}
};

/// A named value of a parameter.
struct NamedValue {
  std::string_view name;  ///< "paper"
  int value;
};

/// An integer parameter of the conversion to a format.
struct FormatParameter {
  std::string_view name;                   ///< "threshold"
  std::string_view summary;                ///< one line
  std::string_view unit;                   ///< unit of the values in messages: "rows"
  int min, max;                            ///< inclusive bounds
  std::span<const int> values = {};        ///< allowed values; empty: all from least to most
  std::span<const NamedValue> names = {};  ///< names accepted in place of values
  int standard = 0;                        ///< default of conversions; 0: chosen for the matrix
  std::string_view fitted_for = {};  ///< operation for which device profiles fit the value: "spmm"; empty:
                                     ///< none
  std::span<const int> tried = {};   ///< candidates for fitting; empty: all values
  bool on_device = false;            ///< also accepted by conversions on a device

  [[nodiscard]] constexpr bool accepts(std::int64_t value) const {
    if (value < min || value > max) return false;
    bool listed = values.empty();
    for (const int one : values) listed |= one == value;
    return listed;
  }
};

struct Blocks;
struct FormatLayout;

/// Borrows one matrix in one format. The arrays are in the order of `layout->arrays`.
struct FormatView {
  const FormatLayout* layout = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;  ///< nonzeros of the matrix
  std::array<ArrayView, kMaxArrays> arrays;

  [[nodiscard]] const ArrayView& array(ArrayIndex i) const { return arrays[i.value]; }
  ArrayView& array(ArrayIndex i) { return arrays[i.value]; }

  /// Returns value array `number`; absent for a pattern matrix and for numbers out of range.
  [[nodiscard]] ArrayView values(int number = 0) const;
  /// Returns the type of the values; DType::none for a pattern matrix.
  [[nodiscard]] DType value_dtype() const;
  [[nodiscard]] bool is_pattern() const { return value_dtype() == DType::none; }
};

/// One row of the format table. Each format defines its row in its own file; registry.cpp lists them.
struct FormatLayout {
  std::string_view name;          ///< "bittcf", used by the command line, JSON and bundle paths
  std::string_view summary;       ///< one line for `sptile list formats`
  std::string_view group;         ///< HDF5 group in a bundle: "/csr" or "/formats/NAME"
  int window_rows;                ///< rows per window; 0 if there are no windows or heights differ
  int usual_window_rows = 0;      ///< if heights differ, the height for most matrices
  int tile_rows;                  ///< rows per tile; 0 without tiles
  int tile_cols;                  ///< columns per tile; 0 without tiles
  bool ascending_columns = true;  ///< each row is stored with ascending columns
  std::span<const ArraySpec> arrays;

  /// Verifies in O(1) that array types and lengths are consistent with each other and with rows, cols and
  /// nnz, so that check_contents stays within bounds. Does not read the arrays.
  Status (*check_lengths)(const FormatView&);

  /// Verifies all invariants of the contents in one pass with `threads` >= 1 threads; requires that
  /// check_lengths passed. O(nnz). The error names the first violation and its location ("bittcf:
  /// tc_offset[17] = 40 < 41; offsets never decrease") and does not depend on the number of threads.
  Status (*check_contents)(const FormatView&, int threads);

  /// Returns the number of TC blocks; 0 for formats without tiles. Valid after check_lengths.
  std::int64_t (*tc_blocks)(const FormatView&);

  /// Returns the locations of tiles and nonzeros for format-independent code. O(1); valid after
  /// check_lengths, even if the contents are invalid.
  Blocks (*blocks)(const FormatView&);

  /// Verifies only the offsets, the first step of check_contents. Code that partitions the work then stays
  /// within bounds, even if masks and columns are invalid. O(offsets). Null: check_contents is needed.
  Status (*check_offsets)(const FormatView&, int threads) = nullptr;

  const FormatParameter* parameter = nullptr;  ///< null: the format has no parameter

  /// Returns whether device profiles may choose the value of the parameter.
  [[nodiscard]] constexpr bool is_fitted() const {
    return parameter != nullptr && !parameter->fitted_for.empty();
  }
};

/// Verifies lengths, then contents, with `threads` OpenMP threads.
Status check(const FormatView& view, int threads = 1);

/// Verifies that each array is present with its declared type, that all value arrays share one value type
/// (see DTypeInfo), and that either all value arrays are present or none is. Every check_lengths starts with
/// it.
Status check_array_types(const FormatView& view);

/// Verifies that a format accepts this value of its parameter. Errc::usage lists the accepted values.
Status check_parameter(const FormatLayout& layout, std::int64_t value);

/// Lists the accepted values of a parameter: "1 to 9", "16, 32, 64 or 128", "paper, cuda or 0 to 7".
std::string values_text(const FormatParameter& parameter);

/// Returns the first name of a value if it has one, else the number.
std::string value_text(const FormatParameter& parameter, int value);

/// Returns the bytes of the index arrays (all but the values).
std::int64_t index_bytes(const FormatView& view);

/// Returns the bytes of the value arrays.
std::int64_t value_bytes(const FormatView& view);

}  // namespace sptile::formats
