#include "formats/convert/window_increments.hpp"

#include <sys/mman.h>
#include <tbb/blocked_range.h>

#include <algorithm>
#include <array>
#include <new>

#include "formats/core/compact_columns.hpp"
#include "formats/core/parallel_loop.hpp"
#include "formats/core/per_thread.hpp"

namespace sptile::formats {
namespace {

constexpr int kWindow = 8;

/// Stores 1 + the last row that contains each column; 0 if there is none. Memory is mapped, so that pages
/// that are never touched cost nothing.
class LastRows {
 public:
  explicit LastRows(std::int64_t cols) : bytes_(static_cast<std::size_t>(cols + 1) * sizeof(std::int32_t)) {
    void* memory =
        ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    rows_ = static_cast<std::int32_t*>(memory);
  }
  LastRows(const LastRows&) = delete;
  LastRows& operator=(const LastRows&) = delete;
  ~LastRows() { ::munmap(rows_, bytes_); }

  std::int32_t* data() { return rows_; }

 private:
  std::size_t bytes_;
  std::int32_t* rows_;
};

/// fresh[k]: nonzeros of a row whose column is in none of the k preceding rows.
using FreshEntries = std::array<std::int32_t, kWindow>;

/// Counts the fresh nonzeros of a row. Rows before first_row count as empty: no window of this task contains
/// them.
FreshEntries fresh_entries(const CsrView& a, std::int64_t row, std::int64_t first_row,
                           std::int32_t* last_rows) {
  FreshEntries fresh{};
  if (row >= a.rows) return fresh;
  std::int32_t at_distance[kWindow] = {};  // [0]: not in the preceding rows
  const auto begin = static_cast<std::size_t>(a.row_ptr[static_cast<std::size_t>(row)]);
  const auto end = static_cast<std::size_t>(a.row_ptr[static_cast<std::size_t>(row) + 1]);
  const auto reach = static_cast<std::uint64_t>(std::min<std::int64_t>(row - first_row, kWindow - 1));
  for (std::size_t i = begin; i < end; ++i) {
    std::int32_t& last = last_rows[a.col_idx[i]];
    const auto distance = static_cast<std::uint64_t>(row + 1 - last);
    ++at_distance[distance - 1 < reach ? distance : 0];
    last = static_cast<std::int32_t>(row + 1);
  }
  fresh[kWindow - 1] = at_distance[0];
  for (int k = kWindow - 1; k > 0; --k)
    fresh[static_cast<std::size_t>(k) - 1] = fresh[static_cast<std::size_t>(k)] + at_distance[k];
  return fresh;
}

void count_rows(const CsrView& a, std::int64_t first_row, std::int64_t end_row, std::int32_t* last_rows,
                WindowIncrements& result) {
  FreshEntries ring[kWindow];  // rows r to r + 7, row i at i % 8
  for (std::int64_t row = first_row; row < end_row + kWindow - 1; ++row) {
    ring[row % kWindow] = fresh_entries(a, row, first_row, last_rows);
    const std::int64_t r = row - (kWindow - 1);
    if (r < first_row) continue;
    std::int32_t with = ring[r % kWindow][0], without = 0;
    for (std::size_t k = 1; k < kWindow; ++k) {
      const FreshEntries& fresh = ring[(r + static_cast<std::int64_t>(k)) % kWindow];
      with += fresh[k];
      without += fresh[k - 1];
    }
    result.columns[r] = with;
    result.increment[r] = static_cast<std::uint8_t>(std::min(with - without, 255));
  }
}

}  // namespace

WindowIncrements window_increments(const CsrView& a) {
  WindowIncrements result{Buffer<std::int32_t>(a.rows), Buffer<std::uint8_t>(a.rows)};
  const CompactColumns columns(a);
  const CsrView& compact = columns.view();
  parallel::PerThread<LastRows> last_rows(compact.cols);
  parallel::loop(tbb::blocked_range<std::int64_t>(0, a.rows, 1024), [&](const auto& range) {
    count_rows(compact, range.begin(), range.end(), last_rows.local().data(), result);
  });
  return result;
}

}  // namespace sptile::formats
