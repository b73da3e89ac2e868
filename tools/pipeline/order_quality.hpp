// The quality of a row order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/csr_view.hpp"
#include "reorder/quality/locality.hpp"
#include "reorder/quality/quality.hpp"

namespace sptile::tools {

/// All measures of a row order.
struct OrderQuality {
  std::vector<reorder::WindowQuality> windows;
  reorder::OrderLocality locality;
};

/// Measures an order of the rows of `a` (empty: original order).
OrderQuality measure_order(const formats::CsrView& a, std::span<const std::int32_t> new_to_old = {});

}  // namespace sptile::tools
