// How the rows of a CSR matrix are shared out on a CUDA device: runs of whole rows with about equal work, and
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

/// Consecutive whole rows, empty ones too.
struct CsrRun {
  std::int64_t entry;              ///< first of them
  std::int32_t row;                ///< first of them
  std::uint32_t entries_and_rows;  ///< entries << 8 | rows
};

/// Part of a long row.
struct CsrPiece {
  std::int64_t entry;
  std::int32_t entries;
  std::int32_t split;  ///< of which row: position in the list of splits
  bool operator==(const CsrPiece&) const = default;
};

/// A row in pieces. Whoever finishes its last piece adds them up, in order.
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

  /// Cuts a row into as few pieces as need not be longer than `longest`, about equally long: all but the last
  /// a multiple of `step`.
  void cut(std::int64_t row, std::int64_t entry, std::int64_t entries, std::int64_t longest,
           std::int64_t step);
  /// Appends, counting splits and pieces on from those that are there.
  void append(const CsrPieces& other);
};

/// Shape of the grid: so many lanes work on one row, a slice is the columns that they hold.
struct CsrGeometry {
  int lanes;  ///< 8, 16 or 32
  std::int64_t slices;
};
/// The shape for n columns, `vector` elements of a row in a lane. Fewer columns never take more lanes or
/// slices: what is divided for many serves few.
CsrGeometry csr_geometry(std::int64_t n, int vector);

/// The shape where so many lanes work on one row, whatever n is.
constexpr CsrGeometry csr_geometry_of(int lanes, std::int64_t n, int vector) {
  const std::int64_t columns = std::int64_t{lanes} * vector;
  return {lanes, (n + columns - 1) / columns};
}

/// Least number of columns that as many lanes share.
std::int64_t csr_least_n(std::int64_t n, int vector);

/// What launching reads; `..._at` are offsets in Schedule::bytes.
struct CsrHeader {
  std::int64_t runs_at = 0, runs = 0;
  std::int64_t pieces_at = 0, pieces = 0;
  std::int64_t splits_at = 0, splits = 0;
  ScheduleScratch scratch;

  /// Work of groups of lanes, for each slice.
  [[nodiscard]] std::int64_t items() const { return pieces + runs; }
};

/// Elements of B and C that a lane holds: 16 bytes of them.
constexpr int csr_vector(DType dense) { return static_cast<int>(16 / size_of(dense)); }

/// Rows that are multiplied, row r with the entries row_ptr[r] to row_ptr[r + 1].
struct CsrRows {
  std::span<const std::int64_t> row_ptr;
  bool cut = true;  ///< long ones, in pieces
  /// How many share a row in a kernel that also does other work; its launches may be by the csr kernel, too.
  /// 0: as many as n columns want.
  int lanes = 0;
  std::int64_t shortest_piece = 0;  ///< of a long row, in entries; 0: as short as SpMM has them
  [[nodiscard]] std::int64_t rows() const { return std::ssize(row_ptr) - 1; }
  [[nodiscard]] std::int64_t entries() const { return row_ptr.back() - row_ptr.front(); }
};

/// Divides the rows for dense operands of a type and at most n columns, in the same way for any number of
/// heads, without room for the sums of pieces.
CsrHeader append_csr_items(Schedule& schedule, const CsrRows& rows, DType dense, std::int64_t n,
                           const DeviceInfo& device);

/// The same with that room; sums take 4 bytes, 8 for f64.
CsrHeader append_csr(Schedule& schedule, const CsrRows& rows, DType dense, std::int64_t n,
                     const DeviceInfo& device, std::int64_t heads = 1);

/// What is stored of a header.
inline constexpr std::uint32_t kCsrVersion = 1;
std::vector<std::int64_t> csr_numbers(const CsrHeader& header);

/// Reads back what append_csr appended for the same rows, and proves that every row and every entry is the
/// work of one item.
CsrHeader read_csr(ScheduleReader& reader, Schedule& schedule, const CsrRows& rows, DType dense,
                   std::int64_t n, std::int64_t heads = 1);

}  // namespace sptile::runtime::cuda
