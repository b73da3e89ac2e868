// The quality of a row order, as JSON and as tables.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "reorder/locality.hpp"
#include "reorder/quality.hpp"
#include "tools/result.hpp"

namespace sptile::tools {

/// Everything that is measured of a row order.
struct OrderQuality {
  std::vector<reorder::WindowQuality> windows;
  reorder::OrderLocality locality;
};

/// Measures an order of the rows of `a` (empty: as they stand).
OrderQuality measure_order(const formats::CsrView& a, std::span<const std::int32_t> new_to_old = {});

Json to_json(std::span<const reorder::WindowQuality> windows);
Json to_json(const reorder::OrderLocality& locality);

/// One table for one order.
std::string quality_text(const OrderQuality& quality);
/// The same measures before and after, side by side.
std::string comparison_text(const OrderQuality& before, const OrderQuality& after);

}  // namespace sptile::tools
