// Division of the rows of a CSR matrix on a CUDA device: runs of complete rows with about equal work, and
// pieces of rows that are too long for one run. Rows keep their order, so that neighbours, which tend to
// reference the same rows of B, run at about the same time.
#pragma once

#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "runtime/cuda/device_kernel.hpp"
#include "runtime/cuda/stored_schedule.hpp"

namespace sptile::runtime::cuda {

inline constexpr int kMaxRunRows = 8;

/// Consecutive complete rows, including empty ones.
struct CsrRun {
  std::int64_t entry;              ///< first row
  std::int32_t row;                ///< first row
  std::uint32_t entries_and_rows;  ///< entries << 8 | rows
};

/// Part of a long row.
struct CsrPiece {
  std::int64_t entry;
  std::int32_t entries;
  std::int32_t split;  ///< index of its row in the list of splits
  bool operator==(const CsrPiece&) const = default;
};

/// A split row. The group that finishes its last piece adds the pieces in order.
struct CsrSplit {
  std::int32_t row;
  std::int32_t first_piece;
  std::int32_t pieces;
  bool operator==(const CsrSplit&) const = default;
};

/// Long rows and their pieces.
struct CsrPieces {
  std::vector<CsrPiece> pieces;
  std::vector<CsrSplit> splits;

  /// Splits a row into the minimum number of pieces of at most `longest` entries, with about equal lengths:
  /// all but the last are multiples of `step`.
  void cut(std::int64_t row, std::int64_t entry, std::int64_t entries, std::int64_t longest,
           std::int64_t step);
  /// Appends, renumbering splits and pieces.
  void append(const CsrPieces& other);
};

/// Shape of the grid: `lanes` lanes process one row, and a slice consists of their columns.
struct CsrGeometry {
  int lanes;  ///< 8, 16 or 32
  std::int64_t slices;
};
/// Returns the shape for n columns with `vector` elements per lane. Fewer columns never use more lanes or
/// slices, so a division for many columns supports fewer.
CsrGeometry csr_geometry(std::int64_t n, int vector);

/// Returns the shape with `lanes` lanes per row, for any n.
constexpr CsrGeometry csr_geometry_of(int lanes, std::int64_t n, int vector) {
  const std::int64_t columns = std::int64_t{lanes} * vector;
  return {lanes, (n + columns - 1) / columns};
}

/// Returns the minimum number of columns with the same number of lanes.
std::int64_t csr_least_n(std::int64_t n, int vector);

/// Launch parameters; `..._at` are offsets in Schedule::bytes.
struct CsrHeader {
  std::int64_t runs_at = 0, runs = 0;
  std::int64_t pieces_at = 0, pieces = 0;
  std::int64_t splits_at = 0, splits = 0;
  ScheduleScratch scratch;

  /// Returns the items of groups of lanes, for each slice.
  [[nodiscard]] std::int64_t items() const { return pieces + runs; }
};

/// Returns the elements of B and C per lane: 16 bytes.
constexpr int csr_vector(DType dense) { return static_cast<int>(16 / size_of(dense)); }

/// Rows to multiply; row r has the entries row_ptr[r] to row_ptr[r + 1].
struct CsrRows {
  std::span<const std::int64_t> row_ptr;
  bool cut = true;  ///< split long rows
  /// Lanes per row in a kernel that also does other work and may be launched by the csr kernel, too. 0:
  /// chosen by n.
  int lanes = 0;
  std::int64_t shortest_piece = 0;  ///< of a long row, in entries; 0: as for SpMM
  [[nodiscard]] std::int64_t rows() const { return std::ssize(row_ptr) - 1; }
  [[nodiscard]] std::int64_t entries() const { return row_ptr.back() - row_ptr.front(); }
};

/// Divides the rows for dense operands of a type and at most n columns, independent of the number of heads,
/// without workspace for partial sums.
CsrHeader append_csr_items(Schedule& schedule, const CsrRows& rows, DType dense, std::int64_t n,
                           const DeviceInfo& device);

/// Divides the rows and reserves workspace for partial sums, of 4 bytes each, 8 for f64.
CsrHeader append_csr(Schedule& schedule, const CsrRows& rows, DType dense, std::int64_t n,
                     const DeviceInfo& device, std::int64_t heads = 1);

/// Stored numbers of a header.
inline constexpr std::uint32_t kCsrVersion = 1;
std::vector<std::int64_t> csr_numbers(const CsrHeader& header);

/// Restores the result of append_csr for the same rows, and checks that every row and every entry belongs to
/// one item.
CsrHeader read_csr(ScheduleReader& reader, Schedule& schedule, const CsrRows& rows, DType dense,
                   std::int64_t n, std::int64_t heads = 1);

}  // namespace sptile::runtime::cuda
