// What a stored format looks like: its named arrays, its checks, its sizes. Shared by the converters, the
// bundle writer, the runtime and the tests, so that each fact about a layout is written once.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "formats/array_view.hpp"
#include "formats/error.hpp"

namespace sptile::formats {

/// One array of a format.
struct ArraySpec {
  std::string_view name;       ///< as in the contract: "tc_local_bit"
  DType dtype;                 ///< element type; ignored when holds_values
  bool holds_values = false;   ///< element type is the matrix's; the array is absent for a pattern matrix
  bool holds_columns = false;  ///< numbers of columns: what a product reads, but not who divides its work
};

inline constexpr int kMaxArrays = 12;

struct FormatLayout;

/// Borrows one matrix in one format. Arrays stand in the order of `layout->arrays`.
struct FormatView {
  const FormatLayout* layout = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;  ///< entries of the matrix
  std::array<ArrayView, kMaxArrays> arrays;

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
  int tile_rows;                  ///< rows of a tile; 0 where there are none
  int tile_cols;                  ///< columns of a tile; 0 where there are none
  bool ascending_columns = true;  ///< of each row, in the order in which its entries are stored
  std::span<const ArraySpec> arrays;

  /// Verifies in O(1) that array types and lengths agree with each other and with rows, cols and nnz, so that
  /// check_contents stays inside the arrays. Does not touch the data.
  Status (*check_lengths)(const FormatView&);

  /// Verifies every invariant of the contents in one pass, O(nnz); assumes check_lengths passed. Names the
  /// first broken invariant and where ("bittcf: tc_offset[17] = 40 < 41; offsets never decrease").
  Status (*check_contents)(const FormatView&);

  /// Number of TC blocks; 0 for formats without tiles. Valid after check_lengths.
  std::int64_t (*tc_blocks)(const FormatView&);
};

/// Verifies everything: lengths, then contents.
Status check(const FormatView& view);

/// Verifies that each array is there with its declared type, that all value arrays share one type that may
/// hold values (DTypeInfo), and that value arrays are absent together. Every check_lengths starts with it.
Status check_array_types(const FormatView& view);

/// Bytes of the index arrays (everything but values).
std::int64_t index_bytes(const FormatView& view);

/// Bytes of the value arrays.
std::int64_t value_bytes(const FormatView& view);

}  // namespace sptile::formats
