// Numbers the distinct columns of every window with one bit per column in shared memory.
#pragma once

#include <cstdint>
#include <type_traits>

#include "runtime/cuda/convert/bits.hpp"
#include "runtime/cuda/device_format.hpp"

namespace sptile::runtime::cuda {

/// Selects the phase of a block step; see run.blocks in format_memory.hpp.
template <int phase>
using Phase = std::integral_constant<int, phase>;

struct BlockPlace {
  std::int64_t block, round;
  int thread;
};

/// Range of the columns of a window; begin is a multiple of 128.
struct ColumnRange {
  std::int32_t begin = 0, end = 0;
};

/// A block numbers the columns of a window, a fixed number of columns of its range per round. Reads the
/// columns of the entries twice per round; writes 4 bytes per entry and 4 per column.
template <class Windows>
struct NumberByBits {
  static constexpr int kThreads = 512, kPhases = 6;
  static constexpr int kGroupColumns = 128, kGroups = 2048;
  static constexpr int kTogether = 16;  ///< threads whose columns are added up first
  static constexpr std::int64_t kRoundColumns = std::int64_t{kGroupColumns} * kGroups;

  struct alignas(16) Group {
    std::uint32_t bits[kGroupColumns / 32];
  };
  struct Shared {
    Group groups[kGroups];
    std::uint32_t before[kGroups];  ///< columns of the window before each group
    std::uint32_t of_thread[kThreads], of_threads[kThreads / kTogether];
    std::uint32_t in_front[2];  ///< columns of the window before this round and the next one
  };

  const std::int64_t* row_ptr;
  const std::int32_t* col_idx;
  std::int64_t rows;
  Windows windows;
  ColumnRange* ranges;     ///< range of each window
  std::uint32_t* place;    ///< see Columns
  std::int32_t* id;        ///< see Columns
  std::uint32_t* columns;  ///< per window; not written for empty windows

  SPTILE_HOST_DEVICE std::int64_t begin(std::int64_t window) const { return row_ptr[windows.begin(window)]; }
  SPTILE_HOST_DEVICE std::int64_t end(std::int64_t window) const {
    const std::int64_t row = windows.end(window);
    return row_ptr[row < rows ? row : rows];
  }
  [[nodiscard]] SPTILE_HOST_DEVICE std::int64_t rounds(std::int64_t window) const {
    const ColumnRange range = ranges[window];
    return (std::int64_t{range.end} - range.begin + kRoundColumns - 1) / kRoundColumns;
  }
  /// Finds the column range of a window from the first and last entries of its rows.
  SPTILE_HOST_DEVICE void find_range(std::int64_t window) const {
    ColumnRange range{INT32_MAX, 0};
    const std::int64_t end = windows.end(window) < rows ? windows.end(window) : rows;
    for (std::int64_t r = windows.begin(window); r < end; ++r) {
      if (row_ptr[r] == row_ptr[r + 1]) continue;
      const std::int32_t first = col_idx[row_ptr[r]], last = col_idx[row_ptr[r + 1] - 1];
      if (first < range.begin) range.begin = first;
      if (last >= range.end) range.end = last + 1;
    }
    range.begin = range.end == 0 ? 0 : range.begin / kGroupColumns * kGroupColumns;
    ranges[window] = range;
  }

  SPTILE_HOST_DEVICE void operator()(Phase<0>, const BlockPlace& at, Shared& shared) const {
    for (int g = at.thread, end = groups(at); g < end; g += kThreads) shared.groups[g] = {};
  }
  SPTILE_HOST_DEVICE void operator()(Phase<1>, const BlockPlace& at, Shared& shared) const {
    visit(at, [&](std::int64_t, std::uint32_t column) {
      atomic_or(&shared.groups[column / kGroupColumns].bits[column % kGroupColumns / 32], 1u << column % 32);
    });
  }
  SPTILE_HOST_DEVICE void operator()(Phase<2>, const BlockPlace& at, Shared& shared) const {
    std::uint32_t count = 0;
    for (int g = first_group(at), end = first_group(at, 1); g < end; ++g)
      for (const std::uint32_t bits : shared.groups[g].bits)
        count += static_cast<std::uint32_t>(count_bits(bits));
    shared.of_thread[at.thread] = count;
  }
  SPTILE_HOST_DEVICE void operator()(Phase<3>, const BlockPlace& at, Shared& shared) const {
    if (at.thread >= kThreads / kTogether) return;
    std::uint32_t count = 0;
    for (int i = 0; i < kTogether; ++i) count += shared.of_thread[kTogether * at.thread + i];
    shared.of_threads[at.thread] = count;
  }
  SPTILE_HOST_DEVICE void operator()(Phase<4>, const BlockPlace& at, Shared& shared) const {
    std::uint32_t number = at.round == 0 ? 0 : shared.in_front[at.round % 2];
    for (int i = 0; i < at.thread / kTogether; ++i) number += shared.of_threads[i];
    for (int i = at.thread / kTogether * kTogether; i < at.thread; ++i) number += shared.of_thread[i];
    const std::int64_t first_id = begin(at.block);
    for (int g = first_group(at), end = first_group(at, 1); g < end; ++g) {
      shared.before[g] = number;
      auto column = static_cast<std::int32_t>(first_column(at) + std::int64_t{kGroupColumns} * g);
      for (std::uint32_t bits : shared.groups[g].bits) {
        for (; bits != 0; bits &= bits - 1)
          id[first_id + number++] = column + count_bits((bits & (~bits + 1)) - 1);
        column += 32;
      }
    }
    if (at.thread == kThreads - 1) columns[at.block] = shared.in_front[(at.round + 1) % 2] = number;
  }
  SPTILE_HOST_DEVICE void operator()(Phase<5>, const BlockPlace& at, Shared& shared) const {
    visit(at, [&](std::int64_t entry, std::uint32_t column) {
      const std::uint32_t g = column / kGroupColumns, word = column % kGroupColumns / 32;
      const Group group = shared.groups[g];
      std::uint32_t number = shared.before[g];
      for (std::uint32_t w = 0; w < kGroupColumns / 32; ++w) {
        const std::uint32_t in_front = w < word ? ~0u : w == word ? (1u << column % 32) - 1 : 0u;
        number += static_cast<std::uint32_t>(count_bits(group.bits[w] & in_front));
      }
      place[entry] = number;
    });
  }

 private:
  [[nodiscard]] SPTILE_HOST_DEVICE std::int64_t first_column(const BlockPlace& at) const {
    return ranges[at.block].begin + at.round * kRoundColumns;
  }
  /// Returns the number of column groups in a round.
  [[nodiscard]] SPTILE_HOST_DEVICE int groups(const BlockPlace& at) const {
    const std::int64_t left = ranges[at.block].end - first_column(at);
    return static_cast<int>(((left < kRoundColumns ? left : kRoundColumns) + kGroupColumns - 1) /
                            kGroupColumns);
  }
  /// Returns the first group counted by a thread, or by the thread `after` positions later. The groups of a
  /// thread are contiguous.
  [[nodiscard]] SPTILE_HOST_DEVICE int first_group(const BlockPlace& at, int after = 0) const {
    const int all = groups(at), first = (all + kThreads - 1) / kThreads * (at.thread + after);
    return first < all ? first : all;
  }
  /// Calls f(entry, column in the round) for entries with a column of the round.
  template <class F>
  SPTILE_HOST_DEVICE void visit(const BlockPlace& at, const F& f) const {
    const std::int64_t first = first_column(at);
    for (std::int64_t i = begin(at.block) + at.thread, to = end(at.block); i < to; i += kThreads) {
      const std::int64_t column = col_idx[i] - first;
      if (column >= 0 && column < kRoundColumns) f(i, static_cast<std::uint32_t>(column));
    }
  }
};

}  // namespace sptile::runtime::cuda
