#include "formats/layout/blocks.hpp"

namespace sptile::formats {

std::int64_t Blocks::summed_value(std::int64_t tile) const {
  const auto after = std::upper_bound(tile_offset.begin(), tile_offset.end(), tile);
  const auto window = static_cast<std::size_t>(after - tile_offset.begin()) - 1;
  std::int64_t value = window_value[window];
  for (std::int64_t t = tile_offset[window]; t < tile; ++t) value += mask_values(t);
  return value;
}

std::vector<std::int64_t> row_offsets(const BlockRows& rows) {
  if (rows.class_offset.empty()) return {rows.offset.begin(), rows.offset.end()};
  std::vector<std::int64_t> offsets{0};
  offsets.reserve(rows.ids.size() + 1);
  for (std::size_t c = 0; c + 1 < rows.class_offset.size(); ++c)
    for (std::int32_t i = rows.class_offset[c]; i < rows.class_offset[c + 1]; ++i)
      offsets.push_back(offsets.back() + static_cast<std::int64_t>(c));
  return offsets;
}

}  // namespace sptile::formats
