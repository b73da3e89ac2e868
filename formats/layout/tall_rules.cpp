#include "formats/layout/tall_rules.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace sptile::formats {
namespace {

constexpr std::int64_t kColumns = 128;                   // of B
constexpr std::int64_t kColumnBytes = 4 * kColumns + 4;  // a row of B, the column's number
constexpr std::int64_t kGroupBytes = 8;                  // mask, offset
constexpr std::int64_t kTileBytes = 12;                  // bitmap, offset
/// A group is multiplied as dense tiles, one for each sub-window, but for 64 rows at least. Fitted, like the
/// next one, on products of 32 matrices with 64 and 128 rows (docs/design/decisions/0025).
constexpr std::int64_t kDenseTileBytes = 600;
constexpr int kLeastDenseTiles = 8;
/// Sums of 128 rows that blocks bring to memory and back where they share windows: what a product of few
/// windows waits for.
constexpr std::int64_t kSumsBytes = 200'000'000;
/// Filling the pipeline of a window, with others beside it.
constexpr std::int64_t kWindowBytes = 8 << 10;

}  // namespace

std::int64_t TallCount::bytes(int height) const {
  const std::int64_t dense_tiles = groups * std::max(height / 8, kLeastDenseTiles);
  return kColumnBytes * columns + kGroupBytes * groups + kTileBytes * tiles + kDenseTileBytes * dense_tiles +
         kWindowBytes * windows + (height > 8 * kLeastDenseTiles ? kSumsBytes : 0);
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
