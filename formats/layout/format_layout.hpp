// What a stored format looks like: its named arrays, its checks, its sizes. Shared by the converters, the
// bundle writer, the runtime and the tests, so that each fact about a layout is written once.
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
  std::string_view name;       ///< as in the contract: "tc_local_bit"
  DType dtype;                 ///< element type; ignored when holds_values
  bool holds_values = false;   ///< element type is the matrix's; the array is absent for a pattern matrix
  bool holds_columns = false;  ///< numbers of columns: what a product reads, but not who divides its work
};

inline constexpr int kMaxArrays = 12;

/// Position of an array of a format: an enumerator of the format's own enum (CsrArray::col_idx).
struct ArrayIndex {
  std::size_t value;

  template <class Enum>
  requires(std::is_enum_v<Enum>) constexpr ArrayIndex(Enum array) : value(static_cast<std::size_t>(array)) {}
};

/// A value of a parameter that has a name.
struct NamedValue {
  std::string_view name;  ///< "paper"
  int value;
};

/// A whole number that a format may be given where it is made.
struct FormatParameter {
  std::string_view name;                   ///< "threshold"
  std::string_view summary;                ///< one line
  std::string_view unit;                   ///< of the values, for messages: "rows"
  int least, most;                         ///< both allowed
  std::span<const int> values = {};        ///< where not all from least to most are allowed: those that are
  std::span<const NamedValue> names = {};  ///< values that may be given by name instead
  int standard = 0;                        ///< what a conversion takes by itself; 0: it looks at the matrix
  std::string_view fitted_for = {};  ///< operation for which profiles of devices have values: "spmm"; or none
  std::span<const int> tried = {};   ///< where the best of some values is fitted: those
  bool on_device = false;            ///< conversions on a device take it, too

  [[nodiscard]] constexpr bool accepts(std::int64_t value) const {
    if (value < least || value > most) return false;
    bool listed = values.empty();
    for (const int one : values) listed |= one == value;
    return listed;
  }
};

struct Blocks;
struct FormatLayout;

/// Borrows one matrix in one format. Arrays stand in the order of `layout->arrays`.
struct FormatView {
  const FormatLayout* layout = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;  ///< entries of the matrix
  std::array<ArrayView, kMaxArrays> arrays;

  [[nodiscard]] const ArrayView& array(ArrayIndex i) const { return arrays[i.value]; }
  ArrayView& array(ArrayIndex i) { return arrays[i.value]; }

  /// One of the value arrays, by number; not present for a pattern matrix or where there are fewer.
  [[nodiscard]] ArrayView values(int number = 0) const;
  /// Type of the values; DType::none for a pattern matrix.
  [[nodiscard]] DType value_dtype() const;
  [[nodiscard]] bool is_pattern() const { return value_dtype() == DType::none; }
};

/// One row of the format table. A format's own pair of files defines it; registry.cpp lists it.
struct FormatLayout {
  std::string_view name;          ///< "bittcf": command line, JSON, bundle path
  std::string_view summary;       ///< one line for `sptile list formats`
  std::string_view group;         ///< HDF5 group in a bundle: "/csr" or "/formats/NAME"
  int window_rows;                ///< rows of a window; 0 where there are none and where they differ
  int usual_window_rows = 0;      ///< where they differ, what most matrices have
  int tile_rows;                  ///< rows of a tile; 0 where there are none
  int tile_cols;                  ///< columns of a tile; 0 where there are none
  bool ascending_columns = true;  ///< of each row, in the order in which its entries are stored
  std::span<const ArraySpec> arrays;

  /// Verifies in O(1) that array types and lengths agree with each other and with rows, cols and nnz, so that
  /// check_contents stays inside the arrays. Does not touch the data.
  Status (*check_lengths)(const FormatView&);

  /// Verifies every invariant of the contents in one pass, O(nnz), with so many threads (at least 1); assumes
  /// check_lengths passed. Names the first broken invariant and where ("bittcf: tc_offset[17] = 40 < 41;
  /// offsets never decrease"), the same for any number of threads.
  Status (*check_contents)(const FormatView&, int threads);

  /// Number of TC blocks; 0 for formats without tiles. Valid after check_lengths.
  std::int64_t (*tc_blocks)(const FormatView&);

  /// Where the tiles and the entries in rows stand: what counts, divides and draws the matrix, whatever its
  /// format. O(1); valid after check_lengths, whatever the contents.
  Blocks (*blocks)(const FormatView&);

  /// Verifies the offsets alone, which is what check_contents begins with: all that who divides the work
  /// needs to stay inside the arrays, whatever masks and columns are. O(offsets). Null: it needs more.
  Status (*check_offsets)(const FormatView&, int threads) = nullptr;

  const FormatParameter* parameter = nullptr;  ///< null: nothing may be given

  /// True when profiles of devices may say which value of the parameter is best.
  [[nodiscard]] constexpr bool is_fitted() const {
    return parameter != nullptr && !parameter->fitted_for.empty();
  }
};

/// Verifies everything: lengths, then contents, with so many threads of OpenMP.
Status check(const FormatView& view, int threads = 1);

/// Verifies that each array is there with its declared type, that all value arrays share one type that may
/// hold values (DTypeInfo), and that value arrays are absent together. Every check_lengths starts with it.
Status check_array_types(const FormatView& view);

/// Verifies that a format takes this value of its parameter. Errc::usage names what it takes.
Status check_parameter(const FormatLayout& layout, std::int64_t value);

/// Lists the values of a parameter: "1 to 9", "16, 32, 64 or 128", "paper, cuda or 0 to 7".
std::string values_text(const FormatParameter& parameter);

/// A value as it may be given: by its first name, else as a number.
std::string value_text(const FormatParameter& parameter, int value);

/// Bytes of the index arrays (everything but values).
std::int64_t index_bytes(const FormatView& view);

/// Bytes of the value arrays.
std::int64_t value_bytes(const FormatView& view);

}  // namespace sptile::formats
