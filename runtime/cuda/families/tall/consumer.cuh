// A consumer warp of a tall block: multiplies chunk after chunk, and stores sums to C at the ends of windows.
#pragma once

#include "runtime/cuda/device/ptx.cuh"
#include "runtime/cuda/families/tall/result.cuh"

namespace sptile::runtime::cuda {

/// Consumer warps of kernel K. Multiplier is TallTiles, TallDenseTiles or TallUprightTiles, which adds to the
/// sums of Result.
template <class K, class Multiplier, class Result>
class TallConsumer {
 public:
  __device__ __forceinline__ TallConsumer(const TallTask& task, const TallShared& shared,
                                          const TallItem& item, const TallPart& part)
      : task_(task),
        shared_(shared),
        item_(item),
        lane_(part.lane),
        result_(task, part),
        multiplier_(task, shared, part) {}

  __device__ __forceinline__ void run() {
    StageCursor cursor;
    bool first_window = true;
    for (std::int32_t chunk = item_.chunk; chunk < item_.end_chunk; ++chunk) {
      shared_.wait_full(cursor);
      const std::uint32_t stage = shared_.stage(task_, cursor.stage);
      const std::uint32_t record = stage + static_cast<std::uint32_t>(task_.stage.chunk_at);
      const uint4 head = shared_piece(record);
      const bool last = (head.x & kTallLast) != 0;
      std::uint32_t row = 0;
      multiplier_.multiply(result_.sums, stage, head, [&] {
        if (last) {
          row = shared_word(record + 16);
          __threadfence_block();  // loaded before the stage is released
        }
        __syncwarp();
        if (lane_ == 0) barrier_arrive(shared_.empty(cursor.stage));
      });
      if (last) {
        const std::int32_t slot = first_window ? item_.head : chunk + 1 == item_.end_chunk ? item_.tail : -1;
        result_.end_window({static_cast<std::int32_t>(row), static_cast<int>(head.w >> 16)}, slot);
        first_window = false;
      }
      cursor.advance(task_.stages);
    }
  }

 private:
  const TallTask& task_;
  const TallShared& shared_;
  const TallItem& item_;
  int lane_;
  Result result_;
  Multiplier multiplier_;
};

}  // namespace sptile::runtime::cuda
