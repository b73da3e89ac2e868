// Rules for packing rows into windows, for the CPU (reorder/packing) and devices (runtime/cuda/reorder):
// equal rules give equal orders. Rows are identified by their position in the base order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sptile::packing {

inline constexpr std::int64_t kMaxChains = 32;
inline constexpr std::int64_t kRounds = 128;      // target number of rounds
inline constexpr std::int64_t kChainWindows = 4;  // minimum windows per chain and round
inline constexpr std::int64_t kChainRows = 1024,
                              kChainEntries = 1 << 15;  // minimum work for a separate chain
inline constexpr std::int64_t kPurge = 4;               // purge after 1 / kPurge of the rows was placed
inline constexpr int kRowsPerPool = 16;                 // rows taken before the pool is refilled
inline constexpr std::size_t kPoolRows = 31;            // maximum rows of a pool
inline constexpr std::int32_t kTooMany = 1 << 30;  // missing columns of no row; windows have fewer columns

// Budget of lookups for a window, per row of it: kSpare, plus GreedyRules::lookups for each of the first
// kFirstEntries nonzeros of its first row and an eighth of that for each further one. A row seen for the
// first time costs kRankLookups additional lookups, because it must be ranked. A window that continues with
// the candidates of the previous one has kGoingOn of this budget.
inline constexpr std::int64_t kSpare = 256, kFirstEntries = 256, kRankLookups = 2;
inline constexpr double kGoingOn = 0.35;

// Initial orders. Otherwise it is the original one.
inline constexpr int kDegreeBase = 1, kDegreeForHubs = 2;
inline constexpr double kHubShare = 0.25;  // minimum fraction of nonzeros in long columns for degree order

/// Returns whether more than kHubShare of the nonzeros are in columns longer than GreedyRules::longest_list.
constexpr bool has_hubs(std::int64_t in_long_columns, std::int64_t nonzeros) {
  return static_cast<double>(in_long_columns) > kHubShare * static_cast<double>(nonzeros);
}

/// Returns whether the initial order is by descending degree.
constexpr bool starts_by_degree(int degree_base, bool hubs) {
  return degree_base == kDegreeBase || (degree_base == kDegreeForHubs && hubs);
}

struct GreedyRules {
  int window_rows = 8;
  int longest_list = 256;  ///< rows counted for a column
  int lookups = 8;         ///< lookups per row of a window and nonzero of its first row
};

/// Returns the lookups for a window whose first row has this number of nonzeros.
constexpr std::int64_t lookups_for(const GreedyRules& rules, std::int64_t entries) {
  const std::int64_t further = entries > kFirstEntries ? entries - kFirstEntries : 0;
  const int fewer = rules.lookups / 8 > 1 ? rules.lookups / 8 : 1;
  return rules.window_rows * (kSpare + (entries - further) * rules.lookups + further * fewer);
}

/// Nonzeros per column of a window after adding a row of `size` nonzeros, `missing` of them in new columns.
/// `up`: 7 to round columns up to multiples of eight, else 0.
constexpr float density(float entries, std::int32_t columns, std::int32_t size, std::int32_t missing,
                        std::int32_t up) {
  return (entries + static_cast<float>(size)) / static_cast<float>((columns + missing + up) & ~up);
}

/// Estimate if one in `per_shared` of the window's columns was counted.
constexpr float promise(float entries, float columns, std::int32_t size, std::int32_t missing,
                        float per_shared) {
  const auto all = static_cast<float>(size);
  const float shared = static_cast<float>(size - missing) * per_shared;
  return (entries + all) / (columns + all - (shared < all ? shared : all));
}

/// The exact value for a row of a pool.
constexpr double exact_density(std::int64_t entries, std::int64_t columns, std::int64_t size,
                               std::int32_t missing, bool whole_blocks) {
  const std::int64_t after = columns + missing;
  return static_cast<double>(entries + size) /
         static_cast<double>(whole_blocks ? (after + 7) & ~std::int64_t{7} : after);
}

/// Limits of the rounds between two purges.
struct Stage {
  std::size_t chains;
  std::int64_t max_rows, max_entries;  ///< limits of a chain and round
  std::int64_t goal;                   ///< rows to place
};

/// `few`: with at most this number of nonzeros, a single chain places all rows at once.
inline Stage stage_of(std::int64_t rows, std::int64_t entries, std::int64_t few, int window_rows) {
  const std::int64_t worth = std::max(kChainRows, std::int64_t{32} * window_rows);
  const std::int64_t chains =
      std::clamp(std::min(rows / worth, entries / kChainEntries), std::int64_t{1}, kMaxChains);
  const bool last = chains == 1 && entries <= few;
  // Few rows per round and chain, so that chains seldom propose the same rows.
  const std::int64_t share = chains > 1 ? kRounds * chains : last ? 1 : 2;
  return {static_cast<std::size_t>(chains), std::max(rows / share + 1, kChainWindows * window_rows),
          entries / share + 1, last ? rows : (rows + kPurge - 1) / kPurge};
}

/// A sequence of windows, each starting with the state of the previous one.
struct Chain {
  std::size_t place = 0;               // index in the free rows; all rows cyclically before it are taken
  std::int32_t next = -1;              // first row of the next window; -1: the one at `place`
  std::vector<std::int32_t> proposed;  // windows of this round, concatenated
  std::vector<std::int32_t> packed;    // accepted windows
};

/// Places the chains along the free rows at equal distances in nonzeros. `size`: nonzeros by row; `entries`:
/// their sum over the free rows.
inline void spread_chains(std::vector<Chain>& chains, std::size_t active, std::span<const std::int32_t> rows,
                          std::span<const std::int32_t> size, std::int64_t entries) {
  if (chains.size() < active) chains.resize(active);
  std::int64_t before = 0;
  std::size_t chain = 0;
  for (std::size_t i = 0; i < rows.size() && chain < active; ++i) {
    if (before >= entries / static_cast<std::int64_t>(active) * static_cast<std::int64_t>(chain))
      chains[chain++].place = i;
    before += size[static_cast<std::size_t>(rows[i])];
  }
}

/// Accepts the windows whose rows are all free, and sets the sizes of their rows to 0. Returns the number of
/// rows placed.
inline std::int64_t accept(std::vector<Chain>& chains, std::size_t running, std::span<std::int32_t> size,
                           int window_rows, bool keep_short) {
  const auto height = static_cast<std::size_t>(window_rows);
  std::int64_t rows = 0;
  for (std::size_t c = 0; c < running; ++c) {
    Chain& chain = chains[c];
    for (std::size_t w = 0; w < chain.proposed.size(); w += height) {
      const auto begin = chain.proposed.begin() + static_cast<std::ptrdiff_t>(w);
      const auto end = begin + static_cast<std::ptrdiff_t>(std::min(height, chain.proposed.size() - w));
      const bool short_window = end - begin < static_cast<std::ptrdiff_t>(height);
      if ((short_window && !keep_short) ||
          std::any_of(begin, end, [&](std::int32_t row) { return size[static_cast<std::size_t>(row)] == 0; }))
        continue;
      for (auto row = begin; row != end; ++row) size[static_cast<std::size_t>(*row)] = 0;
      chain.packed.insert(chain.packed.end(), begin, end);
      rows += end - begin;
    }
  }
  return rows;
}

/// Returns the number of chains of the next round. All chains propose rows with hubs: if many proposals are
/// rejected, fewer chains run, so that less work is wasted.
inline std::size_t next_running(const std::vector<Chain>& chains, std::size_t running, std::size_t active,
                                std::int64_t accepted) {
  std::int64_t proposed = 0;
  for (std::size_t c = 0; c < running; ++c) proposed += std::ssize(chains[c].proposed);
  return 8 * accepted < 7 * proposed ? std::max<std::size_t>(1, running / 2) : std::min(active, 2 * running);
}

/// Concatenates the accepted windows. Only the first chain can contain a short window and therefore comes
/// last.
inline std::vector<std::int32_t> windows_of(const std::vector<Chain>& chains, std::int64_t rows) {
  std::vector<std::int32_t> order;
  order.reserve(static_cast<std::size_t>(rows));
  for (std::size_t c = chains.size(); c-- > 0;)
    order.insert(order.end(), chains[c].packed.begin(), chains[c].packed.end());
  return order;
}

}  // namespace sptile::packing
