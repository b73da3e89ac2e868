#include "formats/layout/tall_rules.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace sptile::formats {
namespace {

constexpr std::int64_t kColumns = 128;                   // columns of B
constexpr std::int64_t kColumnBytes = 4 * kColumns + 4;  // a row of B and the column id
constexpr std::int64_t kGroupBytes = 8;                  // mask and offset
constexpr std::int64_t kTileBytes = 12;                  // bitmap and offset
/// Cost of a dense tile in bytes. Groups are multiplied as dense tiles, one per sub-window and at least
/// kMinDenseTiles. Both constants, and the next two, were fitted to SpMM times of 32 matrices with 64 and
/// 128 rows (docs/design/decisions/0025).
constexpr std::int64_t kDenseTileBytes = 600;
constexpr int kMinDenseTiles = 8;
/// Cost of the partial sums that blocks store and reload if they share windows of 128 rows, which limits SpMM
/// with few windows.
constexpr std::int64_t kSumsBytes = 200'000'000;
/// Cost of filling the pipeline of a window while other windows are processed.
constexpr std::int64_t kWindowBytes = 8 << 10;

}  // namespace

std::int64_t TallCount::bytes(int height) const {
  const std::int64_t dense_tiles = groups * std::max(height / 8, kMinDenseTiles);
  return kColumnBytes * columns + kGroupBytes * groups + kTileBytes * tiles + kDenseTileBytes * dense_tiles +
         kWindowBytes * windows + (height > 8 * kMinDenseTiles ? kSumsBytes : 0);
}

TallCount TallSample::of_all(const TallCount& count) const {
  const double times = static_cast<double>(blocks) / static_cast<double>(std::max<std::int64_t>(size(), 1));
  const auto scaled = [&](std::int64_t x) {
    return static_cast<std::int64_t>(std::llround(static_cast<double>(x) * times));
  };
  return {scaled(count.windows), scaled(count.columns), scaled(count.groups), scaled(count.tiles)};
}

int cheapest_level(const TallCounts& counts) {
  int best = 0;
  const auto bytes = [&](int level) {
    return counts[static_cast<std::size_t>(level)].bytes(tall_height(level));
  };
  for (int level = 1; level < kTallLevels; ++level)
    if (bytes(level) < bytes(best)) best = level;
  return best;
}

Parameters tall_parameters(const TallCounts& counts, int level) {
  Parameters parameters{{"window_rows", std::int64_t{tall_height(level)}}};
  for (int l = 0; l < kTallLevels; ++l)
    parameters.emplace_back("sampled_bytes_" + std::to_string(tall_height(l)),
                            counts[static_cast<std::size_t>(l)].bytes(tall_height(l)));
  return parameters;
}

}  // namespace sptile::formats
