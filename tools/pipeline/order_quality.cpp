#include "tools/pipeline/order_quality.hpp"

#include "formats/core/compact_columns.hpp"

namespace sptile::tools {

OrderQuality measure_order(const formats::CsrView& a, std::span<const std::int32_t> new_to_old) {
  const formats::CompactColumns columns(a);  // shared by all measures
  return {reorder::measure_quality(columns.view(), new_to_old),
          reorder::measure_locality(columns.view(), new_to_old)};
}

}  // namespace sptile::tools
