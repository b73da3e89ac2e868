#include "runtime/cuda/papers/acc/balance.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace sptile::runtime::cuda {
namespace {

constexpr std::int64_t kWriteBack = 1;  ///< time of a window, in loads of a tile

/// Fills thread blocks in turn.
class AccBalancer {
 public:
  explicit AccBalancer(const TileWindows& windows)
      : windows_(windows), block_time_(acc_block_time(windows)), items_(windows) {}

  TileSchedule run() {
    for (std::int64_t window = 0; window < windows_.count(); ++window) place(window);
    end_run(windows_.count());
    return items_.take();
  }

 private:
  /// Returns the tiles of one more window that fit in the thread block.
  [[nodiscard]] std::int64_t room() const {
    return std::min(block_time_ - time_ - kWriteBack, kAccMostTiles - tiles_);
  }

  void take(std::int64_t tiles) {
    time_ += tiles + kWriteBack;
    tiles_ += tiles;
  }

  void begin_block() { time_ = tiles_ = 0; }

  /// Ends the run of complete windows before this one.
  void end_run(std::int64_t window) {
    items_.add_windows(run_begin_, window);
    run_begin_ = window;
  }

  void place(std::int64_t window) {
    std::int32_t tile = windows_.tile_offset[static_cast<std::size_t>(window)];
    std::int64_t left = windows_.tile_offset[static_cast<std::size_t>(window) + 1] - tile;
    if (room() < std::min<std::int64_t>(left, 1)) {
      end_run(window);
      begin_block();
    }
    if (left <= room()) return take(left);
    end_run(window);
    pieces_.clear();
    while (left > 0) {
      if (room() < 1) begin_block();
      const std::int64_t share = std::min(left, room());
      pieces_.push_back(tile);
      take(share);
      tile += static_cast<std::int32_t>(share);
      left -= share;
    }
    items_.add_pieces(window, pieces_);
    run_begin_ = window + 1;
  }

  const TileWindows& windows_;
  std::int64_t block_time_;
  ItemList items_;
  std::int64_t time_ = 0, tiles_ = 0;  ///< time and tiles of the thread block
  std::int64_t run_begin_ = 0;         ///< complete windows from here are not yet in an item
  std::vector<std::int32_t> pieces_;
};

}  // namespace

double acc_imbalance(std::span<const std::int32_t> tile_offset) {
  const auto windows = static_cast<double>(std::ssize(tile_offset) - 1);
  if (windows <= 0) return 0;
  const double average = tile_offset.back() / windows;
  double sum = 0;
  for (std::size_t w = 0; w + 1 < tile_offset.size(); ++w)
    sum += std::abs(tile_offset[w + 1] - tile_offset[w] - average);
  return sum / windows;
}

std::int64_t acc_block_time(const TileWindows& windows) {
  const std::int64_t count = std::max<std::int64_t>(windows.count(), 1);
  const std::int64_t all = windows.tile_offset.back() + kWriteBack * count;
  return std::min((all + count - 1) / count, kAccMostTiles + kWriteBack);
}

TileSchedule divide_acc_windows(const TileWindows& windows, const TileTuning& /*tuning*/,
                                const DeviceInfo& /*device*/) {
  ItemList items(windows);
  for (std::int64_t window = 0; window < windows.count(); ++window) items.add_windows(window, window + 1);
  return items.take();
}

TileSchedule divide_acc_balanced(const TileWindows& windows, const TileTuning& /*tuning*/,
                                 const DeviceInfo& /*device*/) {
  return AccBalancer(windows).run();
}

TileSchedule divide_acc(const TileWindows& windows, const TileTuning& tuning, const DeviceInfo& device) {
  const bool balanced = acc_imbalance(windows.tile_offset) > kAccImbalance;
  return (balanced ? divide_acc_balanced : divide_acc_windows)(windows, tuning, device);
}

}  // namespace sptile::runtime::cuda
