// Schedule of the rows of a CSR matrix on a CUDA device: runs of entire rows with about equal work, and
// segments of rows that are too long for one run. Rows keep their order, because neighbouring rows tend to
// reference the same rows of B and then run at about the same time.
#pragma once

#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "runtime/cuda/device_kernel.hpp"
#include "runtime/cuda/stored_schedule.hpp"

namespace sptile::runtime::cuda {

inline constexpr int kMaxRunRows = 8;
inline constexpr std::int64_t kRowCost = 2;            ///< cost of writing a row of C, in nonzeros
inline constexpr std::int64_t kRowsPerPart = 1 << 15;  ///< rows that a thread schedules at a time

/// Consecutive entire rows, including empty rows.
struct CsrRun {
  std::int64_t entry;              ///< first nonzero
  std::int32_t row;                ///< first row
  std::uint32_t entries_and_rows;  ///< nonzeros << 8 | rows
};

/// Segment of a long row.
struct CsrPiece {
  std::int64_t entry;
  std::int32_t entries;
  std::int32_t split;  ///< index of its row in the list of split rows
  bool operator==(const CsrPiece&) const = default;
};

/// A row in segments. The group that finishes the last segment adds their sums in order.
struct CsrSplit {
  std::int32_t row;
  std::int32_t first_piece;
  std::int32_t pieces;
  bool operator==(const CsrSplit&) const = default;
};

/// Long rows and their segments.
struct CsrPieces {
  std::vector<CsrPiece> pieces;
  std::vector<CsrSplit> splits;

  /// Cuts a row into the minimum number of segments of at most `longest` nonzeros, which is a multiple of
  /// `step`. Segments have about equal lengths; all but the last are multiples of `step`.
  void cut(std::int64_t row, std::int64_t entry, std::int64_t entries, std::int64_t longest,
           std::int64_t step);
  /// Appends the rows and segments of `other` and renumbers them.
  void append(const CsrPieces& other);
};

/// Shape of the grid: `lanes` lanes share a row, and a slice has the columns that they hold.
struct CsrGeometry {
  int lanes;  ///< 8, 16 or 32
  std::int64_t slices;
};
/// Returns the shape for n columns, with `vector` elements of a row per lane. Fewer columns never need more
/// lanes or slices, so a schedule for n columns also supports fewer.
CsrGeometry csr_geometry(std::int64_t n, int vector);

/// Returns the shape for a fixed number of lanes.
constexpr CsrGeometry csr_geometry_of(int lanes, std::int64_t n, int vector) {
  const std::int64_t columns = std::int64_t{lanes} * vector;
  return {lanes, (n + columns - 1) / columns};
}

/// Returns the minimum number of columns with the same number of lanes.
std::int64_t csr_least_n(std::int64_t n, int vector);

/// Header of the schedule that launches read; `..._at` are offsets in Schedule::bytes.
struct CsrHeader {
  std::int64_t runs_at = 0, runs = 0;
  std::int64_t pieces_at = 0, pieces = 0;
  std::int64_t splits_at = 0, splits = 0;
  ScheduleScratch scratch;

  /// Returns the number of items per slice.
  [[nodiscard]] std::int64_t items() const { return pieces + runs; }
};

/// Returns the elements of B and C in the 16 bytes that a lane holds.
constexpr int csr_vector(DType dense) { return static_cast<int>(16 / size_of(dense)); }

/// Rows to schedule. Row r has the nonzeros row_ptr[r] to row_ptr[r + 1] - 1.
struct CsrRows {
  std::span<const std::int64_t> row_ptr;
  bool cut = true;  ///< splits long rows
  /// Lanes that share a row in a kernel with other work, whose rows the csr kernel may also multiply; 0: the
  /// lanes of csr_geometry().
  int lanes = 0;
  std::int64_t shortest_piece = 0;  ///< minimum length of a segment in nonzeros; 0: that of SpMM
  [[nodiscard]] std::int64_t rows() const { return std::ssize(row_ptr) - 1; }
  [[nodiscard]] std::int64_t entries() const { return row_ptr.back() - row_ptr.front(); }
};

/// Appends the items for dense operands of type `dense` with at most n columns, the same for any number of
/// heads. Reserves no workspace for partial sums. O(rows).
CsrHeader append_csr_items(Schedule& schedule, const CsrRows& rows, DType dense, std::int64_t n,
                           const DeviceInfo& device);

/// The same, with workspace for counters and partial sums of 4 bytes, or 8 bytes for f64.
CsrHeader append_csr(Schedule& schedule, const CsrRows& rows, DType dense, std::int64_t n,
                     const DeviceInfo& device, std::int64_t heads = 1);

/// Stored numbers of a header.
inline constexpr std::uint32_t kCsrVersion = 1;
std::vector<std::int64_t> csr_numbers(const CsrHeader& header);

/// Reads what append_csr appended for the same rows. Verifies that each row and each nonzero belongs to
/// exactly one item.
CsrHeader read_csr(ScheduleReader& reader, Schedule& schedule, const CsrRows& rows, DType dense,
                   std::int64_t n, std::int64_t heads = 1);

}  // namespace sptile::runtime::cuda
