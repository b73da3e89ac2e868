// Row orders (new_to_old, see Csr's permute_rows) turned around and followed entry by entry.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/buffer.hpp"
#include "formats/core/csr_view.hpp"

namespace sptile::formats {

/// Gives the permutation the other way: result[new_to_old[i]] == i.
std::vector<std::int32_t> invert_order(std::span<const std::int32_t> new_to_old);

/// For each entry of `a` with its rows in `new_to_old` order (empty: as they stand), its position in `a`.
Buffer<std::int64_t> entry_positions(const CsrView& a, std::span<const std::int32_t> new_to_old);

}  // namespace sptile::formats
