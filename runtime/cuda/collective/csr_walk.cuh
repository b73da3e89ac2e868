// Walk of a group of lanes through the nonzeros of one item of a CSR schedule: a run of rows, or a segment of
// a long row. Nonzeros are staged in shared memory, one chunk ahead of their use. The groups of a warp walk
// in step, up to the longest of their items: items have about equal work, and diverging groups would be
// serialized.
#pragma once

#include <climits>
#include <cstdint>

#include "runtime/cuda/collective/csr_schedule.hpp"
#include "runtime/cuda/collective/epilogue.cuh"
#include "runtime/cuda/collective/split.cuh"

namespace sptile::runtime::cuda {

/// A nonzero in shared memory.
template <class Acc>
struct alignas(2 * sizeof(Acc)) StagedEntry {
  std::int32_t column;
  Acc value;
};

/// End of a row, relative to the first nonzero of the run, and the row of the result; ~row: the result is
/// added to that row.
struct RowEnd {
  std::int32_t end, row;
};

/// Item of a group: consecutive rows, or one segment of a row. Groups without an item have no nonzeros.
struct CsrWork {
  std::int64_t first = 0;  ///< first nonzero
  int entries = 0;
  int rows = 0;
  bool piece = false;    ///< a segment
  std::int32_t row = 0;  ///< first row; undefined for segments
};

/// Reads item `item` of a task with the members row_ptr, runs, pieces, splits, piece_count and item_count,
/// and stores the ends of its rows in `ends`, which has kMaxRunRows + 1 elements in shared memory. `row_of`
/// maps a row of the format to a row of the result; without kSegmentRows, not that of a segment. Segments
/// come first in the list of items. The caller provides the barrier before `ends` is read.
template <int kLanes, bool kSegments = true, bool kSegmentRows = true, class Task, class RowOf>
__device__ __forceinline__ CsrWork load_item(const Task& task, int item, RowEnd* ends, int lane,
                                             const RowOf& row_of) {
  CsrWork work;
  if (kSegments && item < task.piece_count) {
    const CsrPiece piece = task.pieces[item];
    work = {piece.entry, piece.entries, 1, true};
    if (lane == 0) ends[0].end = piece.entries;
    if (kSegmentRows && lane == 0) ends[0].row = row_of(task.splits[piece.split].row);
  } else if (item < task.item_count) {
    const CsrRun run = task.runs[item - task.piece_count];
    work = {run.entry, static_cast<int>(run.entries_and_rows >> 8),
            static_cast<int>(run.entries_and_rows & 0xFF), false, run.row};
    for (int r = lane; r < work.rows; r += kLanes) {
      const std::int32_t row = run.row + r;
      ends[r] = {static_cast<std::int32_t>(task.row_ptr[row + 1] - run.entry), row_of(row)};
    }
  }
  if (lane == 0) ends[work.rows].end = INT_MAX;
  if (kSegmentRows && lane == 0) ends[work.rows].row = 0;
  return work;
}

/// Stages `entries` nonzeros kChunk at a time. Callables of the consumer:
///   load(k, entry)         loads nonzero k of the item from global memory into registers
///   stage(base, at, entry) stores it in place `at` of the chunk that starts with nonzero `base`
///   begin()                runs after the first loads have been issued
///   use(base, here, count) uses the first `count` places of the chunk, of which `here` are defined: `count`
///   is
///                          the maximum over the warp. It contains the loop, because csr.update takes 1 %
///                          longer on an H100 if it is called per step.
/// All lanes of the warp must call it.
template <class Entry, int kLanes, int kChunk, class Load, class Stage, class Begin, class Use>
__device__ __forceinline__ void walk_staged(int entries, int lane, const Load& load, const Stage& stage,
                                            const Begin& begin, const Use& use) {
  constexpr int kPerLane = kChunk / kLanes;
  Entry next[kPerLane] = {};
  const auto fetch = [&](int base) {
#pragma unroll
    for (int i = 0; i < kPerLane; ++i)
      if (const int k = base + lane + i * kLanes; k < entries) load(k, next[i]);
  };
  fetch(0);
  begin();
  const int longest = kLanes == kWarpSize ? entries : __reduce_max_sync(kFullMask, entries);
  for (int base = 0; base < longest; base += kChunk) {
    __syncwarp();  // the previous chunk has been used
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) stage(base, lane + i * kLanes, next[i]);
    __syncwarp();
    fetch(base + kChunk);
    use(base, entries - base, min(kChunk, longest - base));
  }
}

/// Counts in the segment of each group that has one. Returns true to groups whose segment is the last of its
/// row to arrive, and the split row in `split`. `index_of` maps a split row or a segment to its position in
/// `arrived`. All lanes of the warp must call it.
template <int kLanes, class Task, class IndexOf>
__device__ __forceinline__ bool is_last_segment(const Task& task, const CsrWork& work, int item, int lane,
                                                const IndexOf& index_of, CsrSplit& split) {
  const std::int32_t index = work.piece ? task.pieces[item].split : 0;
  split = task.splits[index];
  return warp_arrives_last<kLanes>(task.arrived + index_of(index), split.pieces, lane, work.piece);
}

}  // namespace sptile::runtime::cuda
