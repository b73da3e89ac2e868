#include "reorder/packing/greedy_windows.hpp"

#include <tbb/blocked_range.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "formats/core/parallel_loop.hpp"
#include "formats/core/parallel_reduce.hpp"
#include "formats/core/parallel_select.hpp"
#include "formats/core/per_thread.hpp"
#include "reorder/packing/candidates.hpp"
#include "reorder/packing/row_pool.hpp"

namespace sptile::reorder {
namespace {

using namespace packing;

/// Rows that are in no accepted window, and the lists of columns, which are reduced to these rows from time
/// to time.
struct FreeRows {
  std::vector<std::int32_t> size;  // nonzeros of a row; 0 if placed
  std::vector<std::int32_t> rows;  // free rows at the last purge, in base order
  ColumnLists lists;
  formats::Buffer<std::int32_t> list_size;  // by column, since the last purge
  std::int64_t entries = 0;                 // nonzeros of the rows in `rows`
};

FreeRows all_free(const ColumnSets& sets) {
  FreeRows free;
  free.size.assign(sets.size.begin(), sets.size.end());
  free.rows.resize(static_cast<std::size_t>(sets.items));
  std::iota(free.rows.begin(), free.rows.end(), 0);
  free.lists = lists_of_columns(sets);
  free.list_size = formats::Buffer<std::int32_t>(sets.cols);
  parallel::loop(tbb::blocked_range<std::int64_t>(0, sets.cols, 4096), [&](const auto& range) {
    for (std::int64_t c = range.begin(); c < range.end(); ++c)
      free.list_size[c] = static_cast<std::int32_t>(free.lists.first[c + 1] - free.lists.first[c]);
  });
  free.entries = free.lists.items.size();
  return free;
}

/// Drops placed rows from all lists. Runs whenever a fixed fraction of the rows was placed, so that all
/// purges together cost a few times as much as the first.
void purge(FreeRows& free, const ColumnSets& sets) {
  const auto is_free = [&](std::int32_t row) { return free.size[static_cast<std::size_t>(row)] != 0; };
  parallel::loop(tbb::blocked_range<std::int64_t>(0, sets.cols, 4096), [&](const auto& range) {
    for (std::int64_t c = range.begin(); c < range.end(); ++c) {
      std::int32_t* const list = free.lists.items.data() + free.lists.first[c];
      std::int32_t kept = 0;
      for (std::int32_t i = 0; i < free.list_size[c];
           ++i) {  // branch-free, because placed rows are unpredictable
        list[kept] = list[i];
        kept += is_free(list[i]);
      }
      free.list_size[c] = kept;
    }
  });
  const auto row = [&](std::int64_t i) { return free.rows[static_cast<std::size_t>(i)]; };
  std::vector<std::int32_t> rows(free.rows.size());
  rows.resize(static_cast<std::size_t>(parallel::select(
      std::ssize(free.rows), [&](std::int64_t i) { return is_free(row(i)); },
      [&](std::int64_t at, std::int64_t i) { rows[static_cast<std::size_t>(at)] = row(i); })));
  free.rows = std::move(rows);
  free.entries = parallel::reduce(
      tbb::blocked_range<std::int64_t>(0, std::ssize(free.rows), 4096), std::int64_t{0},
      [&](const auto& range, std::int64_t sum) {
        for (std::int64_t i = range.begin(); i < range.end(); ++i)
          sum += free.size[static_cast<std::size_t>(row(i))];
        return sum;
      },
      std::plus<>());
}

/// Grows windows; one per thread. Between calls of run() only placed rows are removed.
class Packer {
 public:
  Packer(const ColumnSets& sets, const FreeRows& free, const GreedyOptions& options)
      : sets_(sets), free_(free), options_(options), candidates_(sets.items), pool_(sets.cols) {}

  /// Proposes windows until they have max_rows rows or max_entries nonzeros, or no row is free.
  void run(Chain& chain, std::int64_t max_rows, std::int64_t max_entries) {
    chain.proposed.clear();
    may_go_on_ = false;
    for (std::int64_t entries = 0;
         entries < max_entries && static_cast<std::int64_t>(chain.proposed.size()) < max_rows;
         entries += entries_)
      if (cancelled(options_.progress) || !grow_window(chain)) break;
    for (const std::int32_t row : chain.proposed) candidates_.restore(row);
  }

  [[nodiscard]] const GreedyWork& work() const { return work_; }

 private:
  /// A column added by the last row, and the length of its list.
  struct Fresh {
    std::int32_t rows, column;
  };

  bool is_free(std::int32_t row) const {
    return !candidates_.is_gone(row) && free_.size[static_cast<std::size_t>(row)] != 0;
  }

  /// Returns the next free row of the base order, or -1. Cyclic, so that a chain continues past its stretch.
  std::int32_t next_in_base(Chain& chain) const {
    for (std::size_t step = 0; step < free_.rows.size(); ++step) {
      if (chain.place >= free_.rows.size()) chain.place = 0;
      const std::int32_t row = free_.rows[chain.place];
      if (is_free(row)) return row;
      ++chain.place;
    }
    return -1;
  }

  bool grow_window(Chain& chain) {
    const std::int32_t in_base = next_in_base(chain);
    if (in_base < 0) return false;
    const bool has_next = chain.next >= 0 && is_free(chain.next);
    const bool goes_on = may_go_on_ && has_next;
    const std::int32_t first = has_next ? chain.next : in_base;
    if (!goes_on) candidates_.clear(), counted_ = 0;
    pool_.start_window();
    entries_ = columns_ = 0;
    near_ = in_base;
    lookups_left_ = pool_entries_ = lookups_for(options_.rules, sets_.size[first]);
    if (goes_on) lookups_left_ = static_cast<std::int64_t>(kGoingOn * static_cast<double>(lookups_left_));
    const int left = grow_by_lists(first, chain);
    if (left > 0) grow_from_pools(left, chain);
    may_go_on_ = left > 0 && !goes_on;
    chain.next = left > 0 ? pool_.most_shared() : candidates_.most_shared();
    return true;
  }

  /// Adds rows while the lists of all their columns fit the budget; returns the number of missing rows.
  int grow_by_lists(std::int32_t row, Chain& chain) {
    for (int left = options_.rules.window_rows - 1; row >= 0; --left) {
      take(row, chain);
      if (left == 0) break;
      add_columns(row);
      if (!look_up()) return left;
      row = candidates_.densest(entries_, columns_, left <= 1);
      if (row < 0) row = next_in_base(chain);
    }
    return 0;
  }

  /// Adds `left` rows, each the best of the most promising candidates.
  void grow_from_pools(int left, Chain& chain) {
    for (int from_pool = kRowsPerPool; left > 0; --left, ++from_pool) {
      if (from_pool == kRowsPerPool) fill_pool(), from_pool = 0;
      std::int32_t row = pool_.take_densest(entries_, columns_, left <= 1);
      if (row < 0) {
        fill_pool(), from_pool = 0;
        row = pool_.take_densest(entries_, columns_, left <= 1);
      }
      if (row < 0) row = next_in_base(chain);
      if (row < 0) return;
      take(row, chain);
      if (left > 1) add_columns(row);
    }
  }

  /// The nonzeros of the pool, except for its first row, are bounded by the lookup budget.
  void fill_pool() {
    const float per_counted =
        static_cast<float>(columns_) / static_cast<float>(std::max<std::int64_t>(1, counted_));
    candidates_.promising(kPoolRows, entries_, columns_, per_counted, promising_);
    pool_.clear();
    std::int64_t entries = 0;
    for (const std::int32_t row : promising_) {
      entries += sets_.size[row];
      if (row != promising_.front() && entries > pool_entries_) break;
      pool_.add(row, sets_.of(row));
      work_.pooled += sets_.size[row];
    }
  }

  void take(std::int32_t row, Chain& chain) {
    candidates_.remove(row);
    chain.proposed.push_back(row);
    entries_ += sets_.size[row];
  }

  void add_columns(std::int32_t row) {
    const auto columns = sets_.of(row);
    fresh_.resize(columns.size());
    std::size_t fresh = 0;
    for (const std::int32_t column : columns) {
      fresh_[fresh].column = column;
      fresh += pool_.enter(column);
    }
    fresh_.resize(fresh);
    columns_ += static_cast<std::int64_t>(fresh);
  }

  /// Counts the new columns for the rows in their lists. If the budget is too small, short lists come first,
  /// because they are cheapest and most selective. Returns false if some lists were skipped.
  bool look_up() {
    for (const Fresh& fresh : fresh_) {
      __builtin_prefetch(&free_.lists.first[fresh.column]);
      __builtin_prefetch(&free_.list_size[fresh.column]);
    }
    std::int64_t needed = 0;
    for (Fresh& fresh : fresh_) {
      fresh.rows = free_.list_size[fresh.column];
      needed += std::min(fresh.rows, options_.rules.longest_list);
      __builtin_prefetch(free_.lists.items.data() + free_.lists.first[fresh.column]);
    }
    const bool all = needed <= lookups_left_;
    if (!all)
      std::sort(fresh_.begin(), fresh_.end(), [](const Fresh& x, const Fresh& y) {
        return x.rows != y.rows ? x.rows < y.rows : x.column < y.column;
      });
    for (const Fresh& fresh : fresh_) {
      const auto rows = static_cast<std::int32_t>(
          std::min<std::int64_t>(std::min(fresh.rows, options_.rules.longest_list), lookups_left_));
      if (rows <= 0) break;
      lookups_left_ -= rows + kRankLookups * candidates_.share(near_part(fresh.column, rows), free_.size);
      work_.lookups += rows;
      ++counted_;
    }
    return all;
  }

  /// Returns the list of a column, or of a longer list the `max` rows from near_ on.
  std::span<const std::int32_t> near_part(std::int32_t column, std::int32_t max) const {
    const std::int32_t* begin = free_.lists.items.data() + free_.lists.first[column];
    const std::int32_t* const end = begin + free_.list_size[column];
    if (end - begin > max) begin = std::min(std::lower_bound(begin, end, near_), end - max);
    return {begin, std::min(end, begin + max)};
  }

  const ColumnSets& sets_;
  const FreeRows& free_;
  const GreedyOptions& options_;
  Candidates candidates_;
  RowPool pool_;
  std::vector<Fresh> fresh_;             // columns added by the last row
  std::vector<std::int32_t> promising_;  // row ids
  std::int32_t near_ = 0;
  bool may_go_on_ = false;                  // the last window left candidates for a second one
  std::int64_t entries_ = 0, columns_ = 0;  // counts of the window
  std::int64_t counted_ = 0;                // columns counted for the candidates
  std::int64_t lookups_left_ = 0, pool_entries_ = 0;
  GreedyWork work_;
};

}  // namespace

Result<std::vector<std::int32_t>> pack_greedily(const ColumnSets& sets, const GreedyOptions& options,
                                                GreedyWork* work) {
  begin(options.progress, "pack windows", sets.items);
  FreeRows free = all_free(sets);
  const std::int64_t few = free.entries / 64;
  parallel::PerThread<Packer> packers([&] { return Packer(sets, free, options); });
  std::vector<Chain> chains;
  const int height = options.rules.window_rows;
  while (!free.rows.empty()) {
    const auto [active, max_rows, max_entries, goal] =
        stage_of(std::ssize(free.rows), free.entries, few, height);
    spread_chains(chains, active, free.rows, free.size, free.entries);
    std::size_t running = active;
    for (std::int64_t placed = 0; placed < goal;) {
      parallel::loop(
          std::size_t{0}, running,
          [&, rows = max_rows, entries = max_entries](std::size_t c) {
            packers.local().run(chains[c], rows, entries);
          },
          tbb::simple_partitioner());
      if (cancelled(options.progress)) return fail(Errc::io, "cancelled");
      const std::int64_t rows = accept(chains, running, free.size, height, active == 1);
      running = next_running(chains, running, active, rows);
      placed += rows;
      advance(options.progress, rows);
    }
    purge(free, sets);
  }
  if (work != nullptr)
    for (const Packer& packer : packers) *work = *work + packer.work();
  return windows_of(chains, sets.items);
}

}  // namespace sptile::reorder
