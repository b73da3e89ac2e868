// Row orders as the verbs use them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/buffer.hpp"
#include "formats/csr_view.hpp"
#include "reorder/registry.hpp"
#include "tools/verb.hpp"

namespace sptile::tools {

/// Runs an ordering; the result is empty when it keeps the rows as they stand.
Result<std::vector<std::int32_t>> compute_order(Session& session, const reorder::Reorderer& method,
                                                const formats::CsrView& a, int window_rows);

/// For each entry of `a` with its rows in `new_to_old` order (empty: as they stand), its position in `a`.
formats::Buffer<std::int64_t> entry_positions(const formats::CsrView& a,
                                              std::span<const std::int32_t> new_to_old);

/// Gives the permutation the other way: result[new_to_old[i]] == i.
std::vector<std::int32_t> invert_order(std::span<const std::int32_t> new_to_old);

}  // namespace sptile::tools
