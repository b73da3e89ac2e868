#include "formats/core/row_order.hpp"

#include <numeric>

#include "formats/core/parallel_loop.hpp"

namespace sptile::formats {

std::vector<std::int32_t> invert_order(std::span<const std::int32_t> new_to_old) {
  std::vector<std::int32_t> inverse(new_to_old.size());
  for (std::size_t i = 0; i < new_to_old.size(); ++i)
    inverse[static_cast<std::size_t>(new_to_old[i])] = static_cast<std::int32_t>(i);
  return inverse;
}

Buffer<std::int64_t> entry_positions(const CsrView& a, std::span<const std::int32_t> new_to_old) {
  Buffer<std::int64_t> positions(a.nnz());
  if (new_to_old.empty()) {
    std::iota(positions.begin(), positions.end(), std::int64_t{0});
    return positions;
  }
  std::vector<std::int64_t> start(static_cast<std::size_t>(a.rows) + 1, 0);
  for (std::size_t i = 0; i < new_to_old.size(); ++i) start[i + 1] = start[i] + a.row_nnz(new_to_old[i]);
  parallel::loop(std::size_t{0}, new_to_old.size(), [&](std::size_t i) {
    const std::int64_t first = a.row_ptr[static_cast<std::size_t>(new_to_old[i])];
    std::iota(positions.data() + start[i], positions.data() + start[i + 1], first);
  });
  return positions;
}

}  // namespace sptile::formats
