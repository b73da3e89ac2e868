// Windows grown row by row, as by the Packer in reorder/packing/greedy_windows.cpp: a block per chain.
#pragma once

#include <bit>
#include <cstddef>
#include <type_traits>

#include "formats/core/packing_rules.hpp"
#include "runtime/cuda/convert/bits.hpp"
#include "runtime/cuda/convert/csr_rows.hpp"
#include "runtime/cuda/convert/team.hpp"

namespace sptile::runtime::cuda::pack {

/// Rows in base order, all nonempty, and the free rows that contain each column.
struct Sets {
  CsrRows rows;
  const std::int32_t* col_idx = nullptr;
  std::int64_t cols = 0;
  const std::int64_t* list_first = nullptr;  ///< start of each column's list in list_rows
  const std::int32_t* list_rows = nullptr;   ///< ascending
  const std::int32_t* list_size = nullptr;
  const std::int32_t* size = nullptr;  ///< nonzeros of each row; 0: placed
  const std::int32_t* free_rows = nullptr;
  std::int64_t free_count = 0;
};

/// State of a chain between rounds.
struct ChainState {
  std::int64_t place;
  std::int32_t next, proposed;
};

/// Candidates of a window, in any order. Those with a smaller key were found earlier.
struct Candidates {
  std::int32_t *row, *size, *missing;  ///< row -1: taken
  std::uint32_t* key;
  std::uint64_t* rank;  ///< workspace of the search for promising ones

  SPTILE_HOST_DEVICE static std::uint64_t ranked(float value, std::uint32_t key) {
#ifdef __CUDA_ARCH__
    const std::uint32_t bits = __float_as_uint(value);
#else
    const auto bits = std::bit_cast<std::uint32_t>(value);
#endif
    return std::uint64_t{bits} << 32 | ~key;  // positive floats are ordered like their bits
  }
};

/// Sizes of the memory of a chain.
struct ChainSizes {
  std::int64_t rows, cols, candidates, longest_row;  ///< longest_row: a power of two
};

/// Memory of a chain.
struct ChainMemory {
  std::uint32_t* state;    ///< by row, see WindowGrower
  std::uint32_t* holders;  ///< by column: rows of the pool, and kInWindow; all 0 between windows
  Candidates candidates;
  // By position in the last row: its new columns, and their lists.
  std::uint64_t* key;  ///< length of the list, column
  std::uint32_t *before, *fresh;
  std::int64_t* begin;

  template <class Arena>
  void place(Arena& arena, const ChainSizes& sizes) {
    arena.take(state, sizes.rows);
    arena.take(holders, sizes.cols);
    arena.take(candidates.row, sizes.candidates);
    arena.take(candidates.size, sizes.candidates);
    arena.take(candidates.missing, sizes.candidates);
    arena.take(candidates.key, sizes.candidates);
    arena.take(candidates.rank, sizes.candidates);
    arena.take(key, sizes.longest_row);
    arena.take(before, sizes.longest_row);
    arena.take(fresh, sizes.longest_row);
    arena.take(begin, sizes.longest_row);
  }

  /// Returns the memory `bytes` after this one.
  [[nodiscard]] SPTILE_HOST_DEVICE ChainMemory after(std::int64_t bytes) const {
    const auto move = [&](auto*& part) {
      part = reinterpret_cast<std::remove_reference_t<decltype(part)>>(reinterpret_cast<std::byte*>(part) +
                                                                       bytes);
    };
    ChainMemory other = *this;
    move(other.state), move(other.holders);
    move(other.candidates.row), move(other.candidates.size), move(other.candidates.missing);
    move(other.candidates.key), move(other.candidates.rank);
    move(other.key), move(other.before), move(other.fresh), move(other.begin);
    return other;
  }
};

struct GrowShared {
  std::uint64_t scratch[DeviceTeam::kMaxWarps];
  std::uint32_t used;
  std::int32_t found;
  std::int32_t pool_row[packing::kPoolRows];
  std::uint32_t pool_missing[packing::kPoolRows];
};

/// Grows the windows of a chain. All threads have equal members, and call every function together.
template <class Team>
class WindowGrower {
 public:
  SPTILE_HOST_DEVICE WindowGrower(const Sets& sets, const packing::GreedyRules& rules,
                                  const ChainMemory& memory, const Team& team, GrowShared& shared,
                                  std::int32_t* proposed)
      : sets_(sets), rules_(rules), memory_(memory), team_(team), shared_(shared), proposed_(proposed) {}

  /// Proposes windows until they have max_rows rows or max_entries nonzeros, or no row is free.
  SPTILE_HOST_DEVICE void run(ChainState& chain, std::int64_t max_rows, std::int64_t max_entries) {
    place_ = chain.place;
    next_ = chain.next;
    team_.sync();
    for (std::int64_t entries = 0; entries < max_entries && count_ < max_rows && grow_window();)
      entries += entries_;
    clear_candidates();
    for (std::int64_t i = team_.thread(); i < count_; i += team_.threads())
      memory_.state[proposed_[i]] = kUnseen;
    if (team_.thread() == 0) chain = {place_, next_, count_};
    team_.sync();
  }

  // States of rows: the index of a candidate, kGone if taken, kFound plus the position of the lookup while
  // lists are searched, else kUnseen.
  static constexpr std::uint32_t kGone = 1u << 30, kFound = 1u << 31, kUnseen = 0xffffffffu;

 private:
  static constexpr std::uint32_t kInWindow = 1u << packing::kPoolRows;
  static constexpr std::uint64_t kNoColumn = ~std::uint64_t{0};
  static constexpr int kLanes = 32;

  SPTILE_HOST_DEVICE bool is_free(std::int32_t row) const {
    return memory_.state[row] != kGone && sets_.size[row] != 0;
  }
  SPTILE_HOST_DEVICE std::int64_t entries_of(std::int32_t row) const {
    return sets_.rows.row_ptr[row + 1] - sets_.rows.row_ptr[row];
  }
  SPTILE_HOST_DEVICE const std::int32_t* columns_of(std::int32_t row) const {
    return sets_.col_idx + sets_.rows.row_ptr[row];
  }
  template <class X>
  SPTILE_HOST_DEVICE static X lesser(X x, X y) {
    return y < x ? y : x;
  }

  /// Returns the next free row of the base order, or -1.
  SPTILE_HOST_DEVICE std::int32_t next_in_base() {
    for (std::int64_t step = 0; step < sets_.free_count; step += team_.threads()) {
      const std::int64_t mine = step + team_.thread();
      const bool found =
          mine < sets_.free_count && is_free(sets_.free_rows[(place_ + mine) % sets_.free_count]);
      const std::uint64_t first = team_.max(found ? ~static_cast<std::uint64_t>(mine) : 0);
      if (first == 0) continue;
      place_ = (place_ + static_cast<std::int64_t>(~first)) % sets_.free_count;
      return sets_.free_rows[place_];
    }
    return -1;
  }

  SPTILE_HOST_DEVICE bool grow_window() {
    const std::int32_t in_base = next_in_base();
    if (in_base < 0) return false;
    const bool has_next = next_ >= 0 && is_free(next_);
    team_.sync();  // all threads have read the state of the row before it is taken
    const bool goes_on = may_go_on_ && has_next;
    const std::int32_t first = has_next ? next_ : in_base;
    if (!goes_on) clear_candidates(), counted_ = 0;
    entries_ = columns_ = 0;
    pool_count_ = 0;
    near_ = in_base;
    lookups_left_ = pool_entries_ = packing::lookups_for(rules_, entries_of(first));
    if (goes_on)
      lookups_left_ = static_cast<std::int64_t>(packing::kGoingOn * static_cast<double>(lookups_left_));
    const std::int32_t start = count_;
    const int left = grow_by_lists(first);
    if (left > 0) grow_from_pools(left);
    may_go_on_ = left > 0 && !goes_on;
    next_ = left > 0 ? most_shared_of_pool() : most_shared();
    clear_pool();
    for (std::int32_t i = start; i < count_; ++i)
      for_each_column(proposed_[i], [&](std::int64_t, std::int32_t column) { memory_.holders[column] = 0; });
    team_.sync();
    return true;
  }

  /// Calls f(position, column) for the columns of a row, divided among the threads.
  template <class F>
  SPTILE_HOST_DEVICE void for_each_column(std::int32_t row, const F& f) const {
    const std::int32_t* const columns = columns_of(row);
    const std::int64_t count = entries_of(row);
    for (std::int64_t k = team_.thread(); k < count; k += team_.threads()) f(k, columns[k]);
  }

  SPTILE_HOST_DEVICE int grow_by_lists(std::int32_t row) {
    for (int left = rules_.window_rows - 1; row >= 0; --left) {
      take(row);
      if (left == 0) break;
      add_columns(row);
      if (!look_up(entries_of(row))) return left;
      row = densest(left <= 1);
      if (row < 0) row = next_in_base();
    }
    return 0;
  }

  SPTILE_HOST_DEVICE void grow_from_pools(int left) {
    for (int from_pool = packing::kRowsPerPool; left > 0; --left, ++from_pool) {
      if (from_pool == packing::kRowsPerPool) fill_pool(), from_pool = 0;
      std::int32_t row = take_densest(left <= 1);
      if (row < 0) {
        fill_pool(), from_pool = 0;
        row = take_densest(left <= 1);
      }
      if (row < 0) row = next_in_base();
      if (row < 0) return;
      take(row);
      if (left > 1) add_columns(row);
    }
  }

  SPTILE_HOST_DEVICE void take(std::int32_t row) {
    if (team_.thread() == 0) {
      const std::uint32_t state = memory_.state[row];
      if (state < kGone) memory_.candidates.row[state] = -1;
      memory_.state[row] = kGone;
      proposed_[count_] = row;
    }
    ++count_;
    entries_ += entries_of(row);
    team_.sync();
  }

  /// Adds columns to the window, and writes the keys of the new ones.
  SPTILE_HOST_DEVICE void add_columns(std::int32_t row) {
    std::uint64_t fresh = 0;
    for_each_column(row, [&](std::int64_t k, std::int32_t column) {
      const std::uint32_t held = memory_.holders[column];
      const bool is_new = (held & kInWindow) == 0;
      memory_.key[k] = kNoColumn;
      if (!is_new) return;
      for (int i = 0; i < pool_count_; ++i)
        if ((held >> i & 1) != 0) atomic_add(&shared_.pool_missing[i], ~0u);
      memory_.holders[column] = held | kInWindow;
      memory_.key[k] =
          static_cast<std::uint64_t>(sets_.list_size[column]) << 32 | static_cast<std::uint32_t>(column);
      ++fresh;
    });
    columns_ += static_cast<std::int64_t>(team_.sum(fresh));
  }

  /// Returns the rows of list l to look up; 0 for a column that is not new.
  SPTILE_HOST_DEVICE std::int64_t rows_of_list(std::int64_t l) const {
    const std::uint64_t key = memory_.key[l];
    return key == kNoColumn ? 0
                            : lesser<std::int64_t>(static_cast<std::int64_t>(key >> 32), rules_.longest_list);
  }

  /// Returns the index of the first of `max` rows from near_ on in the list of a column.
  SPTILE_HOST_DEVICE std::int64_t near_part(std::int64_t l, std::int64_t max) const {
    const std::uint64_t key = memory_.key[l];
    const auto size = static_cast<std::int64_t>(key >> 32);
    const std::int64_t first = sets_.list_first[static_cast<std::uint32_t>(key)];
    if (size <= max) return first;
    return first + lesser(lower_bound(sets_.list_rows + first, size, near_), size - max);
  }

  /// Sorts the keys of a row: bitonic, with a barrier per step.
  SPTILE_HOST_DEVICE void sort_keys(std::int64_t lists) {
    std::int64_t all = 1;
    while (all < lists) all *= 2;
    for (std::int64_t i = lists + team_.thread(); i < all; i += team_.threads()) memory_.key[i] = kNoColumn;
    team_.sync();
    for (std::int64_t length = 2; length <= all; length *= 2)
      for (std::int64_t apart = length / 2; apart > 0; apart /= 2) {
        for (std::int64_t i = team_.thread(); i < all / 2; i += team_.threads()) {
          const std::int64_t low = i / apart * 2 * apart + i % apart, high = low + apart;
          const std::uint64_t x = memory_.key[low], y = memory_.key[high];
          if ((x > y) == ((low & length) == 0)) memory_.key[low] = y, memory_.key[high] = x;
        }
        team_.sync();
      }
  }

  /// Calls f(l, row, position) for the free rows of the first `lists` lists; `position` counts lookups.
  template <class F>
  SPTILE_HOST_DEVICE void for_each_lookup(std::int64_t lists, const F& f) const {
    const int group = team_.thread() / kLanes, groups = team_.threads() / kLanes;
    for (std::int64_t l = group; l < lists; l += groups) {
      const std::int64_t rows = rows_of_list(l), begin = memory_.begin[l];
      for (std::int64_t p = team_.thread() % kLanes; p < rows; p += kLanes) {
        const std::int32_t row = sets_.list_rows[begin + p];
        if (sets_.size[row] != 0) f(l, row, memory_.before[l] + static_cast<std::uint32_t>(p));
      }
    }
  }

  /// Finds the lists that the budget permits if no row is new, and their rows. Returns their number.
  SPTILE_HOST_DEVICE std::int64_t find_lists(std::int64_t lists) {
    std::int64_t fitting = 0, before = 0;
    for (std::int64_t base = 0; base < lists && before <= lookups_left_; base += team_.threads()) {
      const std::int64_t l = base + team_.thread();
      const std::int64_t rows = l < lists ? rows_of_list(l) : 0;
      std::uint64_t total = 0;
      const std::int64_t start =
          before + static_cast<std::int64_t>(team_.before(static_cast<std::uint64_t>(rows), total));
      const bool fits = l < lists && start + rows <= lookups_left_;
      if (l < lists) {
        memory_.before[l] = static_cast<std::uint32_t>(start);
        memory_.fresh[l] = 0;
        memory_.begin[l] = rows > 0 ? near_part(l, rows) : 0;
      }
      fitting += static_cast<std::int64_t>(team_.sum(fits ? 1 : 0));
      before += static_cast<std::int64_t>(total);
    }
    return fitting;
  }

  /// The lists that the budget permits: `whole` ones, then `rows` rows of the next one.
  struct Permitted {
    std::int64_t whole = 0, rows = 0;
    std::uint32_t lookups = 0;  ///< lookups in the whole lists
  };

  SPTILE_HOST_DEVICE Permitted spend(std::int64_t fitting, std::int64_t lists) {
    Permitted permitted;
    for (std::int64_t l = 0; l < lists && l <= fitting; ++l) {
      const std::int64_t rows = rows_of_list(l);
      if (rows > 0) {
        if (lookups_left_ <= 0) break;
        ++counted_;
        if (rows > lookups_left_) {
          permitted.rows = lookups_left_;
          break;
        }
        lookups_left_ -= rows + packing::kRankLookups * memory_.fresh[l];
        permitted.lookups += static_cast<std::uint32_t>(rows);
      }
      permitted.whole = l + 1;
    }
    return permitted;
  }

  SPTILE_HOST_DEVICE std::uint32_t add_candidate(std::int32_t row, std::uint32_t key) {
    const std::uint32_t at = atomic_add(&shared_.used, 1u);
    const Candidates& c = memory_.candidates;
    c.row[at] = row;
    c.size[at] = c.missing[at] = sets_.size[row];
    c.key[at] = key;
    memory_.state[row] = at;
    return at;
  }

  SPTILE_HOST_DEVICE void share(std::uint32_t candidate) {
    atomic_add(reinterpret_cast<std::uint32_t*>(memory_.candidates.missing + candidate), ~0u);
  }

  /// Counts the new columns for the rows in their lists; see Packer::look_up. Rows are marked by the first
  /// lookup that finds them, so that the number of new rows is known by list; then the budget is spent, and
  /// candidates are added.
  SPTILE_HOST_DEVICE bool look_up(std::int64_t lists) {
    std::uint64_t mine = 0;
    for (std::int64_t l = team_.thread(); l < lists; l += team_.threads())
      mine += static_cast<std::uint64_t>(rows_of_list(l));
    const bool all = static_cast<std::int64_t>(team_.sum(mine)) <= lookups_left_;
    if (!all) sort_keys(lists);
    const std::int64_t fitting = find_lists(lists);
    team_.sync();
    for_each_lookup(fitting, [&](std::int64_t, std::int32_t row, std::uint32_t position) {
      atomic_min(&memory_.state[row], kFound | position);
    });
    team_.sync();
    for_each_lookup(fitting, [&](std::int64_t l, std::int32_t row, std::uint32_t position) {
      if (memory_.state[row] == (kFound | position)) atomic_add(&memory_.fresh[l], 1u);
    });
    team_.sync();
    const Permitted permitted = spend(fitting, lists);
    for_each_lookup(fitting, [&](std::int64_t l, std::int32_t row, std::uint32_t position) {
      if (memory_.state[row] != (kFound | position)) return;
      if (l < permitted.whole)
        add_candidate(row, next_key_ + position);
      else
        memory_.state[row] = kUnseen;
    });
    team_.sync();
    for_each_lookup(permitted.whole, [&](std::int64_t, std::int32_t row, std::uint32_t) {
      if (memory_.state[row] < kGone) share(memory_.state[row]);
    });
    team_.sync();
    next_key_ += permitted.lookups;
    if (permitted.rows > 0) look_up_part(permitted.whole, permitted.rows);
    used_ = shared_.used;
    team_.sync();
    return all;
  }

  /// Looks up the first `rows` rows of a list, which are fewer than the usual ones.
  SPTILE_HOST_DEVICE void look_up_part(std::int64_t l, std::int64_t rows) {
    const std::int64_t begin = near_part(l, rows);
    std::uint64_t fresh = 0;
    for (std::int64_t p = team_.thread(); p < rows; p += team_.threads()) {
      const std::int32_t row = sets_.list_rows[begin + p];
      if (sets_.size[row] == 0) continue;
      std::uint32_t state = memory_.state[row];
      if (state == kUnseen) {
        state = add_candidate(row, next_key_ + static_cast<std::uint32_t>(p));
        ++fresh;
      }
      if (state < kGone) share(state);
    }
    lookups_left_ -= rows + packing::kRankLookups * static_cast<std::int64_t>(team_.sum(fresh));
    next_key_ += static_cast<std::uint32_t>(rows);
  }

  SPTILE_HOST_DEVICE void clear_candidates() {
    for (std::uint32_t i = team_.thread(); i < used_; i += team_.threads())
      if (const std::int32_t row = memory_.candidates.row[i]; row >= 0) memory_.state[row] = kUnseen;
    if (team_.thread() == 0) shared_.used = 0;
    used_ = next_key_ = 0;
    team_.sync();
  }

  /// A row and its rank.
  struct Best {
    std::int32_t row = -1;
    std::uint64_t rank = 0;
  };

  /// Returns the candidate with the maximum rank(i) > 0; row -1 if there is none. Ranks of candidates differ.
  template <class Rank>
  SPTILE_HOST_DEVICE Best best(const Rank& rank) const {
    Best mine;
    for (std::uint32_t i = team_.thread(); i < used_; i += team_.threads()) {
      if (memory_.candidates.row[i] < 0) continue;
      if (const std::uint64_t other = rank(i); other > mine.rank) mine = {memory_.candidates.row[i], other};
    }
    const std::uint64_t found = team_.max(mine.rank);
    if (found == 0) return {};
    if (mine.rank == found) shared_.found = mine.row;
    team_.sync();
    const Best chosen = {shared_.found, found};
    team_.sync();
    return chosen;
  }

  SPTILE_HOST_DEVICE std::int32_t densest(bool whole_blocks) const {
    const Candidates& c = memory_.candidates;
    const auto have = static_cast<float>(entries_);
    const auto distinct = static_cast<std::int32_t>(lesser<std::int64_t>(columns_, packing::kTooMany));
    const std::int32_t up = whole_blocks ? 7 : 0;
    return best([&](std::uint32_t i) {
             return Candidates::ranked(packing::density(have, distinct, c.size[i], c.missing[i], up),
                                       c.key[i]);
           })
        .row;
  }

  SPTILE_HOST_DEVICE std::int32_t most_shared() const {
    const Candidates& c = memory_.candidates;
    return best([&](std::uint32_t i) {
             return static_cast<std::uint64_t>(c.size[i] - c.missing[i]) << 32 | ~c.key[i];
           })
        .row;
  }

  SPTILE_HOST_DEVICE void clear_pool() {
    for (int i = 0; i < pool_count_; ++i)
      for_each_column(shared_.pool_row[i],
                      [&](std::int64_t, std::int32_t column) { memory_.holders[column] &= kInWindow; });
    pool_count_ = 0;
    taken_ = 0;
    team_.sync();
  }

  SPTILE_HOST_DEVICE void fill_pool() {
    clear_pool();
    const Candidates& c = memory_.candidates;
    const float per_counted =
        static_cast<float>(columns_) / static_cast<float>(counted_ > 1 ? counted_ : std::int64_t{1});
    const auto have = static_cast<float>(entries_), distinct = static_cast<float>(columns_);
    for (std::uint32_t i = team_.thread(); i < used_; i += team_.threads())
      c.rank[i] = Candidates::ranked(packing::promise(have, distinct, c.size[i], c.missing[i], per_counted),
                                     c.key[i]);
    team_.sync();
    std::uint64_t last = ~std::uint64_t{0};
    std::int64_t entries = 0;
    while (pool_count_ < static_cast<int>(packing::kPoolRows)) {
      const auto [row, rank] = best([&](std::uint32_t i) { return c.rank[i] < last ? c.rank[i] : 0; });
      if (row < 0) break;
      last = rank;
      entries += entries_of(row);
      if (pool_count_ > 0 && entries > pool_entries_) break;
      if (team_.thread() == 0) shared_.pool_row[pool_count_] = row, shared_.pool_missing[pool_count_] = 0;
      ++pool_count_;
    }
    team_.sync();
    for (int i = 0; i < pool_count_; ++i) {
      std::uint32_t missing = 0;
      for_each_column(shared_.pool_row[i], [&](std::int64_t, std::int32_t column) {
        missing += (atomic_or(&memory_.holders[column], 1u << i) & kInWindow) == 0 ? 1 : 0;
      });
      if (missing > 0) atomic_add(&shared_.pool_missing[i], missing);
    }
    team_.sync();
  }

  SPTILE_HOST_DEVICE std::int32_t take_densest(bool whole_blocks) {
    int found = -1;
    double max = 0;
    for (int i = 0; i < pool_count_; ++i) {
      if ((taken_ >> i & 1) != 0) continue;
      const double density =
          packing::exact_density(entries_, columns_, entries_of(shared_.pool_row[i]),
                                 static_cast<std::int32_t>(shared_.pool_missing[i]), whole_blocks);
      if (density > max) max = density, found = i;
    }
    if (found < 0) return -1;
    taken_ |= 1u << found;
    return shared_.pool_row[found];
  }

  SPTILE_HOST_DEVICE std::int32_t most_shared_of_pool() const {
    std::int32_t found = -1;
    std::int64_t max = 0;
    for (int i = 0; i < pool_count_; ++i) {
      const std::int64_t shared =
          entries_of(shared_.pool_row[i]) - static_cast<std::int32_t>(shared_.pool_missing[i]);
      if ((taken_ >> i & 1) == 0 && shared > max) max = shared, found = shared_.pool_row[i];
    }
    return found;
  }

  const Sets& sets_;
  const packing::GreedyRules& rules_;
  const ChainMemory& memory_;
  const Team& team_;
  GrowShared& shared_;
  std::int32_t* proposed_;
  std::int64_t place_ = 0;
  std::int32_t next_ = -1, near_ = 0;
  std::int32_t count_ = 0;  // proposed rows
  bool may_go_on_ = false;
  std::int64_t entries_ = 0, columns_ = 0;  // counts of the window
  std::int64_t counted_ = 0;                // columns counted for the candidates
  std::int64_t lookups_left_ = 0, pool_entries_ = 0;
  std::uint32_t used_ = 0, next_key_ = 0;
  int pool_count_ = 0;
  std::uint32_t taken_ = 0;  // rows taken from the pool, by bit
};

/// One round of all chains.
struct GrowWindows {
  using Shared = GrowShared;
  static constexpr int kThreads = 1024;  // few blocks run, and lookups wait for memory

  Sets sets;
  packing::GreedyRules rules;
  ChainMemory memory;  ///< memory of the first chain
  std::int64_t chain_bytes;
  ChainState* chains;
  std::int32_t* proposed;  ///< `capacity` per chain
  std::int64_t capacity, max_rows, max_entries;

  template <class Team>
  SPTILE_HOST_DEVICE void operator()(std::int64_t block, const Team& team, Shared& shared) const {
    const ChainMemory mine = memory.after(block * chain_bytes);
    WindowGrower<Team>(sets, rules, mine, team, shared, proposed + block * capacity)
        .run(chains[block], max_rows, max_entries);
  }
};

}  // namespace sptile::runtime::cuda::pack
