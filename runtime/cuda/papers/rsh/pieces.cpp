#include "runtime/cuda/papers/rsh/pieces.hpp"

#include <algorithm>
#include <vector>

namespace sptile::runtime::cuda {
namespace {

/// Iterates over the windows in order, and over their stored pieces.
class StoredPieces {
 public:
  explicit StoredPieces(const TileWindows& windows) : windows_(windows), items_(windows) {}

  /// Adds the next windows, up to `end`: split ones, and runs of complete ones between them.
  void add(std::int64_t end) {
    std::int64_t run_begin = window_;
    for (; window_ < end; ++window_) {
      find_pieces();
      if (pieces_.size() < 2) continue;
      items_.add_windows(run_begin, window_);
      items_.add_pieces(window_, pieces_);
      run_begin = window_ + 1;
    }
    items_.add_windows(run_begin, end);
  }

  TileSchedule take() { return items_.take(); }

 private:
  /// Finds the first tiles of the window's stored pieces.
  void find_pieces() {
    const auto stored = windows_.blocks.tile_offset;
    const std::int32_t end = windows_.tile_offset[static_cast<std::size_t>(window_) + 1];
    pieces_.clear();
    for (; stored_ + 1 < stored.size() && stored[stored_] < end; ++stored_)
      pieces_.push_back(stored[stored_]);
  }

  const TileWindows& windows_;
  ItemList items_;
  std::int64_t window_ = 0;
  std::size_t stored_ = 0;  ///< window of the format
  std::vector<std::int32_t> pieces_;
};

}  // namespace

TileSchedule divide_stored(const TileWindows& windows, const TileTuning& /*tuning*/,
                           const DeviceInfo& /*device*/) {
  StoredPieces pieces(windows);
  for (std::int64_t window = 0; window < windows.count(); ++window) pieces.add(window + 1);
  return pieces.take();
}

TileSchedule divide_stored_runs(const TileWindows& windows, const TileTuning& tuning,
                                const DeviceInfo& device) {
  std::vector<std::int32_t> ends;  // ends of runs, and of windows that the runs skip
  for (const TileItem& item : divide_windows(windows, tuning, device).items) ends.push_back(item.window_end);
  std::ranges::sort(ends);
  StoredPieces pieces(windows);
  for (const std::int32_t end : ends) pieces.add(end);
  return pieces.take();
}

}  // namespace sptile::runtime::cuda
