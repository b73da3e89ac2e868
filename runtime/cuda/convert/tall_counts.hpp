// Counts the columns, groups and tiles of tall windows of each height, on the device.
#pragma once

#include "formats/layout/tall_rules.hpp"
#include "runtime/cuda/convert/columns.hpp"
#include "runtime/cuda/convert/gather_rows.hpp"

namespace sptile::runtime::cuda {

inline constexpr int kTallBlockBits = 7;  ///< blocks of 128 rows
static_assert(1 << kTallBlockBits == formats::kTallMaxRows);

/// Returns the number of 8-row sub-windows in a window of a level.
constexpr int tall_subs(int level) { return 2 << level; }

/// Rows of the sampled blocks.
struct SampledRows {
  formats::TallSample sample;
  std::int64_t rows;  ///< rows of the matrix

  SPTILE_HOST_DEVICE std::int64_t operator()(std::int64_t i) const {
    // Same as TallSample::block, which is not device code.
    std::int64_t block = (i >> kTallBlockBits) * sample.step + sample.step / 2;
    if (block > sample.blocks - 1) block = sample.blocks - 1;
    const std::int64_t row = (block << kTallBlockBits) + (i & (formats::kTallMaxRows - 1));
    return row < rows ? row : -1;
  }
};

/// Returns the mask of sub-windows of the window that use the column starting at an entry. row_bits: of the
/// window.
SPTILE_HOST_DEVICE std::uint32_t subs_of_column(const std::uint64_t* keys, std::int64_t entries,
                                                std::int64_t start, int row_bits) {
  std::uint32_t mask = 0;
  const std::uint64_t column = keys[start] >> row_bits;
  for (std::int64_t i = start; i < entries && keys[i] >> row_bits == column; ++i)
    mask |= 1u << (keys[i] >> 3 & ((1u << (row_bits - 3)) - 1));
  return mask;
}

/// Writes the key (window, sub-windows) of each entry that starts a column of a window, and a larger number
/// for other entries. `keys` are sorted by block of 128 rows, column and row.
struct MakeMaskKeys {
  EntryKey key;
  const std::uint64_t* keys;
  std::int64_t entries, windows;
  int row_bits;  ///< bits of a row in a window
  int subs;      ///< sub-windows per window
  std::uint64_t* to;
  std::uint32_t* items;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    items[i] = static_cast<std::uint32_t>(i);
    to[i] = static_cast<std::uint64_t>(windows) << subs;
    if (i > 0 && keys[i] >> row_bits == keys[i - 1] >> row_bits) return;
    const std::uint64_t window = static_cast<std::uint64_t>(key.window(keys[i]))
                                     << (key.row_bits - row_bits) |
                                 static_cast<std::uint64_t>(key.row(keys[i]) >> row_bits);
    to[i] = window << subs | subs_of_column(keys, entries, i, row_bits);
  }
};

/// Finds the first column of each window in keys of window and mask; windows + 1 offsets.
struct FindMaskWindows {
  const std::uint64_t* keys;
  std::int64_t entries;
  int subs;
  std::uint32_t* first;

  SPTILE_HOST_DEVICE void operator()(std::int64_t window) const {
    first[window] =
        static_cast<std::uint32_t>(lower_bound(keys, entries, static_cast<std::uint64_t>(window) << subs));
  }
};

/// Sums the columns, groups and tiles of one level.
struct CountTall {
  const std::uint64_t* keys;
  const std::uint32_t* first;
  std::int64_t entries, windows;
  int subs;
  SpreadSums sums;  ///< columns, groups and tiles of the level

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    if (i < windows) {
      const std::uint64_t columns = first[i + 1] - first[i];
      if (columns > 0) {
        sums.add(0, i, columns);
        sums.add(1, i, (columns + 7) / 8);
      }
    }
    if (i >= entries) return;
    const auto window = static_cast<std::int64_t>(keys[i] >> subs);
    if (window >= windows || (i - first[window]) % 8 != 0) return;
    std::uint64_t mask = 0;
    for (std::int64_t c = i; c < i + 8 && c < first[window + 1]; ++c) mask |= keys[c];
    sums.add(2, i / 8, static_cast<std::uint64_t>(count_bits(mask & below(subs))));
  }
};

struct TallCountsWorkspace {
  SortBuffers sort, masks;
  std::int32_t* col_idx = nullptr;
  std::uint32_t* first = nullptr;

  void place(Arena& arena, std::int64_t entries, std::int64_t blocks) {
    sort.place(arena, entries);
    masks.place(arena, entries);
    arena.take(col_idx, entries);
    arena.take(first, 8 * blocks + 1);
  }
};

struct TallSampleWorkspace {
  std::int64_t* row_ptr = nullptr;
  std::uint64_t* sums = nullptr;

  void place(Arena& arena, std::int64_t rows, std::int64_t sums_size) {
    arena.take(row_ptr, rows + 1);
    arena.take(sums, sums_size);
  }
};

/// Returns the number of windows of one height in the sampled blocks.
inline std::int64_t count_windows(const formats::TallSample& sample, std::int64_t rows, int level) {
  if (sample.size() == 0) return 0;
  const std::int64_t last = sample.block(sample.size() - 1) * formats::kTallMaxRows;
  const std::int64_t rows_of_last = std::min<std::int64_t>(rows - last, formats::kTallMaxRows);
  const int height = formats::tall_height(level);
  return (sample.size() - 1) * (formats::kTallMaxRows / height) + (rows_of_last + height - 1) / height;
}

/// Implements formats::count_tall_windows for a valid matrix. The sample (about 4 million entries) is sorted
/// once by block and column, and for each height by window and mask.
template <class Run>
Result<formats::TallCounts> count_tall_on(Run& run, const DeviceCsr& csr,
                                          std::int64_t sample_entries = std::int64_t{1} << 22) {
  const formats::TallSample sample(csr.rows, csr.nnz, sample_entries);
  const std::int64_t rows = sample.size() * formats::kTallMaxRows;
  const SampledRows of_sample{sample, csr.rows};
  constexpr int kSums = 3;
  Workspace<TallSampleWorkspace> sampled;
  const SpreadSums shape{nullptr, kSums * formats::kTallLevels};
  if (Status s = sampled.make(run, rows, shape.size()); !s) return tl::unexpected(s.error());
  number_rows(run, csr, of_sample, rows, sampled.row_ptr);
  std::int64_t entries = 0;
  run.download(&entries, sampled.row_ptr + rows, 1);
  if (Status s = run.status(); !s) return tl::unexpected(s.error());

  Workspace<TallCountsWorkspace> workspace;
  if (Status s = workspace.make(run, entries, sample.size()); !s) return tl::unexpected(s.error());
  run.clear(sampled.sums, static_cast<std::size_t>(shape.size()) * sizeof(std::uint64_t));
  run.each(entries, GatherColumns<SampledRows>{csr.row_ptr, sampled.row_ptr, csr.col_idx, of_sample, rows,
                                               workspace.col_idx, nullptr});
  const EntryKey key{bits_for(csr.cols - 1), kTallBlockBits};
  run.each(entries, MakeKeys<FixedWindows>{sampled.row_ptr,
                                           workspace.col_idx,
                                           rows,
                                           {kTallBlockBits},
                                           key,
                                           workspace.sort.keys,
                                           workspace.sort.items});
  run.sort(workspace.sort, entries, key.row_bits,
           key.row_bits + key.column_bits + bits_for(sample.size() - 1));
  for (int level = 0; level < formats::kTallLevels; ++level) {
    const int subs = tall_subs(level);
    const std::int64_t windows = sample.size() * (formats::kTallMaxRows / formats::tall_height(level));
    run.each(entries, MakeMaskKeys{key, workspace.sort.keys, entries, windows, 4 + level, subs,
                                   workspace.masks.keys, workspace.masks.items});
    run.sort(workspace.masks, entries, 0, subs + bits_for(windows));
    run.each(windows + 1, FindMaskWindows{workspace.masks.keys, entries, subs, workspace.first});
    run.each(std::max(entries, windows),
             CountTall{workspace.masks.keys,
                       workspace.first,
                       entries,
                       windows,
                       subs,
                       {sampled.sums + kSums * level * SpreadSums::kCopies, kSums}});
  }
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(shape.size()));
  run.download(sums.data(), sampled.sums, shape.size());
  if (Status s = run.status(); !s) return tl::unexpected(s.error());

  formats::TallCounts counts{};
  for (int level = 0; level < formats::kTallLevels; ++level) {
    formats::TallCount& count = counts[static_cast<std::size_t>(level)];
    count.windows = count_windows(sample, csr.rows, level);
    count.columns = shape.total(sums, kSums * level);
    count.groups = shape.total(sums, kSums * level + 1);
    count.tiles = shape.total(sums, kSums * level + 2);
    count = sample.of_all(count);
  }
  return counts;
}

}  // namespace sptile::runtime::cuda
