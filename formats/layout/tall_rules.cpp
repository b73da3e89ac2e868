#include "formats/layout/tall_rules.hpp"

#include <string>

namespace sptile::formats {
namespace {

constexpr std::int64_t kColumns = 128;                   // of B
constexpr std::int64_t kColumnBytes = 4 * kColumns + 4;  // a row of B, the column's number
constexpr std::int64_t kGroupBytes = 8;                  // mask, offset
/// A tile reads 8 rows of B from shared memory, which gives about five times the bytes that L2 gives (29 TB/s
/// to 5.8 TB/s on an H100), and 12 bytes of index.
constexpr std::int64_t kTileBytes = 8 * 4 * kColumns / 5 + 12;
/// Finding that a group has no work takes a warp about 12 instructions, three cycles of a multiprocessor,
/// which get 25 bytes each.
constexpr std::int64_t kVisitBytes = 64;
/// Filling the pipeline of a window, with others beside it.
constexpr std::int64_t kWindowBytes = 8 << 10;

}  // namespace

std::int64_t TallCount::bytes() const {
  return kColumnBytes * columns + kGroupBytes * groups + kTileBytes * tiles + kVisitBytes * visits +
         kWindowBytes * windows;
}

int cheapest_level(const TallCounts& counts) {
  const auto best =
      std::min_element(counts.begin(), counts.end(),
                       [](const TallCount& x, const TallCount& y) { return x.bytes() < y.bytes(); });
  return static_cast<int>(best - counts.begin());
}

Parameters tall_parameters(const TallCounts& counts, int level) {
  Parameters parameters{{"window_rows", std::int64_t{tall_height(level)}}};
  for (int l = 0; l < kTallLevels; ++l)
    parameters.emplace_back("sampled_bytes_" + std::to_string(tall_height(l)),
                            counts[static_cast<std::size_t>(l)].bytes());
  return parameters;
}

}  // namespace sptile::formats
