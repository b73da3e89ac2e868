// Counts of blocks for a row order, as reorder::count_blocks.
#pragma once

#include <utility>
#include <vector>

#include "runtime/cuda/convert/csr_rows.hpp"
#include "runtime/cuda/convert/entry_key.hpp"
#include "runtime/cuda/convert/format_memory.hpp"

namespace sptile::runtime::cuda::pack {

struct WritePlaces {
  const std::int32_t* order;
  std::int32_t* place;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const { place[order[i]] = static_cast<std::int32_t>(i); }
};

/// Keys of entries by pair of windows, column, and window of the pair.
struct KeyByPair {
  CsrRows rows;
  const std::int32_t *col_idx, *place;
  std::int64_t height;
  EntryKey key;
  SortBuffers sort;

  SPTILE_HOST_DEVICE void operator()(std::int64_t step) const {
    rows.visit_apart(step, [&](std::int64_t i, std::int64_t row) {
      const std::int64_t window = place[row] / height;
      sort.keys[i] = key.make(window / 2, col_idx[i], window % 2);
      sort.items[i] = 0;
    });
  }
};

/// Counts the distinct columns of windows, and of pairs of them.
struct CountDistinct {
  EntryKey key;
  const std::uint64_t* keys;
  std::uint32_t *windows, *pairs;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t pair = key.window(keys[i]);
    if (i == 0 || keys[i] != keys[i - 1]) atomic_add(windows + 2 * pair + key.row(keys[i]), 1u);
    if (i == 0 || key.pair(keys[i]) != key.pair(keys[i - 1])) atomic_add(pairs + pair, 1u);
  }
};

struct BlockParts {
  SortBuffers sort;
  std::int32_t *order = nullptr, *places = nullptr;
  std::uint32_t* counts = nullptr;

  void place(Arena& arena, std::int64_t rows, std::int64_t entries, std::int64_t pairs) {
    sort.place(arena, entries);
    arena.take(order, rows);
    arena.take(places, rows);
    arena.take(counts, 3 * pairs);
  }
};

/// Sums of ceil(distinct columns / 8) over windows of a height, and of twice that height.
struct Blocks {
  std::int64_t blocks = 0, twice = 0;
};

template <class Run>
Result<Blocks> count_blocks(Run& run, const DeviceCsr& a, const std::vector<std::int32_t>& order,
                            int height) {
  const std::int64_t pairs = (a.rows + 2 * height - 1) / (2 * height);
  Workspace<BlockParts> work;
  if (Status s = work.make(run, a.rows, a.nnz, pairs); !s) return tl::unexpected(s.error());
  run.upload(work.order, order.data(), a.rows);
  run.each(a.rows, WritePlaces{work.order, work.places});
  const EntryKey key{bits_for(a.cols - 1), 1};
  const CsrRows rows{a.row_ptr, a.rows, a.nnz};
  run.each(rows.steps_apart(), KeyByPair{rows, a.col_idx, work.places, height, key, work.sort});
  run.sort(work.sort, a.nnz, 0, key.column_bits + 1 + bits_for(pairs - 1));
  run.clear(work.counts, static_cast<std::size_t>(3 * pairs) * sizeof *work.counts);
  run.each(a.nnz, CountDistinct{key, work.sort.keys, work.counts, work.counts + 2 * pairs});
  std::vector<std::uint32_t> counts(static_cast<std::size_t>(3 * pairs));
  run.download(counts.data(), work.counts, 3 * pairs);
  if (Status s = run.status(); !s) return tl::unexpected(s.error());
  Blocks sums;
  for (std::int64_t i = 0; i < 3 * pairs; ++i)
    (i < 2 * pairs ? sums.blocks : sums.twice) += (std::int64_t{counts[static_cast<std::size_t>(i)]} + 7) / 8;
  return sums;
}

}  // namespace sptile::runtime::cuda::pack
