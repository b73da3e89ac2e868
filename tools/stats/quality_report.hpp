// The quality of a row order, as JSON and as tables.
#pragma once

#include <span>
#include <string>

#include "tools/cli/result.hpp"
#include "tools/pipeline/order_quality.hpp"

namespace sptile::tools {

Json to_json(std::span<const reorder::WindowQuality> windows);
Json to_json(const reorder::OrderLocality& locality);

/// Returns a table for one order.
std::string quality_text(const OrderQuality& quality);
/// Returns a table of the measures before and after, in two columns.
std::string comparison_text(const OrderQuality& before, const OrderQuality& after);

}  // namespace sptile::tools
