// Assigns the chosen columns of a window to slots of its tiles, one block per window.
#pragma once

#include "runtime/cuda/convert/columns.hpp"
#include "runtime/cuda/convert/libra_choice.hpp"

namespace sptile::runtime::cuda {

inline constexpr std::uint32_t kNoSlot = 0xFFFFFFFF;

/// Histograms of a window's columns by entries, per thread (each reads contiguous columns) and in total.
struct DensityCounts {
  static constexpr int kThreads = 128, kTogether = 16, kGroups = kThreads / kTogether;

  struct Shared {
    std::uint32_t of_thread[kLibraCounts][kThreads];  ///< then replaced by prefix sums within kTogether
                                                      ///< threads
    std::uint32_t of_group[kLibraCounts][kGroups];
  };

  const std::uint8_t* counts;  ///< entries of each column
  const std::uint32_t* first;  ///< see Columns

  /// Returns the first column of a thread, or of the thread `after` positions later.
  [[nodiscard]] SPTILE_HOST_DEVICE std::int64_t first_column(const BlockPlace& at, int after = 0) const {
    const std::int64_t from = first[at.block], columns = first[at.block + 1] - from;
    const std::int64_t mine = (columns + kThreads - 1) / kThreads * (at.thread + after);
    return from + (mine < columns ? mine : columns);
  }
  SPTILE_HOST_DEVICE void count(const BlockPlace& at, Shared& shared) const {
    for (auto& of_density : shared.of_thread) of_density[at.thread] = 0;
    for (std::int64_t c = first_column(at), end = first_column(at, 1); c < end; ++c)
      ++shared.of_thread[counts[c]][at.thread];
  }
  SPTILE_HOST_DEVICE void add_up(const BlockPlace& at, Shared& shared) const {
    for (int i = at.thread; i < kLibraCounts * kGroups; i += kThreads) {
      std::uint32_t* const counts_of = shared.of_thread[i / kGroups] + i % kGroups * kTogether;
      std::uint32_t sum = 0;
      for (int thread = 0; thread < kTogether; ++thread) {
        const std::uint32_t mine = counts_of[thread];
        counts_of[thread] = sum;
        sum += mine;
      }
      shared.of_group[i / kGroups][i % kGroups] = sum;
    }
  }
  /// Returns the number of columns with `density` entries before those of a thread.
  SPTILE_HOST_DEVICE std::uint32_t in_front(const BlockPlace& at, int density, const Shared& shared) const {
    std::uint32_t sum = shared.of_thread[density][at.thread];
    for (int group = 0; group < at.thread / kTogether; ++group) sum += shared.of_group[density][group];
    return sum;
  }
};

/// Computes the histogram of each window's columns by entries.
struct CountColumns {
  static constexpr int kThreads = DensityCounts::kThreads, kPhases = 3;
  using Shared = DensityCounts::Shared;

  DensityCounts densities;
  std::uint32_t* histogram;  ///< kLibraCounts per window

  [[nodiscard]] SPTILE_HOST_DEVICE std::int64_t rounds(std::int64_t) const { return 1; }
  SPTILE_HOST_DEVICE void operator()(Phase<0>, const BlockPlace& at, Shared& shared) const {
    densities.count(at, shared);
  }
  SPTILE_HOST_DEVICE void operator()(Phase<1>, const BlockPlace& at, Shared& shared) const {
    densities.add_up(at, shared);
  }
  SPTILE_HOST_DEVICE void operator()(Phase<2>, const BlockPlace& at, Shared& shared) const {
    if (at.thread >= kLibraCounts) return;
    std::uint32_t sum = 0;
    for (const std::uint32_t of_group : shared.of_group[at.thread]) sum += of_group;
    histogram[kLibraCounts * at.block + at.thread] = sum;
  }
};

/// Assigns the chosen columns of each window to slots, in column order or densest first.
struct SlotColumns {
  static constexpr int kThreads = DensityCounts::kThreads, kPhases = 3;
  using Shared = DensityCounts::Shared;

  DensityCounts densities;
  const std::uint32_t* histogram;
  const LibraChoice* choice;
  const std::uint32_t* tiles;  ///< first tile of each window
  bool by_density;
  std::uint32_t* slot;  ///< by column

  [[nodiscard]] SPTILE_HOST_DEVICE std::int64_t rounds(std::int64_t window) const {
    return densities.first[window] == densities.first[window + 1] ? 0 : 1;
  }
  SPTILE_HOST_DEVICE void operator()(Phase<0>, const BlockPlace& at, Shared& shared) const {
    densities.count(at, shared);
  }
  SPTILE_HOST_DEVICE void operator()(Phase<1>, const BlockPlace& at, Shared& shared) const {
    densities.add_up(at, shared);
  }
  SPTILE_HOST_DEVICE void operator()(Phase<2>, const BlockPlace& at, Shared& shared) const {
    if (by_density)
      slot_by_density(at, shared);
    else
      slot_in_order(at, shared);
  }

 private:
  /// Each thread reads and writes only its own column of the shared memory.
  SPTILE_HOST_DEVICE void slot_by_density(const BlockPlace& at, Shared& shared) const {
    std::uint32_t denser = 0;
    for (int density = kLibraCounts - 1; density > 0; --density) {
      shared.of_thread[density][at.thread] = denser + densities.in_front(at, density, shared);
      denser += histogram[kLibraCounts * at.block + density];
    }
    const LibraChoice& chosen = choice[at.block];
    for (std::int64_t c = densities.first_column(at), end = densities.first_column(at, 1); c < end; ++c) {
      const std::uint32_t place = shared.of_thread[densities.counts[c]][at.thread]++;
      slot[c] = place < chosen.columns ? 8 * tiles[at.block] + place : kNoSlot;
    }
  }
  SPTILE_HOST_DEVICE void slot_in_order(const BlockPlace& at, const Shared& shared) const {
    const LibraChoice& chosen = choice[at.block];
    std::uint32_t denser = 0, equal = densities.in_front(at, static_cast<int>(chosen.level), shared);
    for (int density = kLibraCounts - 1; density > static_cast<int>(chosen.level); --density)
      denser += densities.in_front(at, density, shared);
    for (std::int64_t c = densities.first_column(at), end = densities.first_column(at, 1); c < end; ++c) {
      const std::uint32_t count = densities.counts[c];
      const std::uint32_t in_front = denser + (equal < chosen.at_level ? equal : chosen.at_level);
      slot[c] = chosen.takes(count, equal) ? 8 * tiles[at.block] + in_front : kNoSlot;
      denser += count > chosen.level;
      equal += count == chosen.level;
    }
  }
};

}  // namespace sptile::runtime::cuda
