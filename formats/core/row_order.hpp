// Operations on row orders (new_to_old; see permute_rows).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/buffer.hpp"
#include "formats/core/csr_view.hpp"

namespace sptile::formats {

/// Returns the inverse permutation: result[new_to_old[i]] == i.
std::vector<std::int32_t> invert_order(std::span<const std::int32_t> new_to_old);

/// Returns the position in `a` of each nonzero, visiting rows in `new_to_old` order (empty: original order).
Buffer<std::int64_t> entry_positions(const CsrView& a, std::span<const std::int32_t> new_to_old);

}  // namespace sptile::formats
