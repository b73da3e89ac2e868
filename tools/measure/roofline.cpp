#include "tools/measure/roofline.hpp"

#include "formats/layout/blocks.hpp"

namespace sptile::tools {

std::int64_t compulsory_bytes(const ProductShape& s) {
  return s.nnz * (4 + s.value) + (s.rows + 1) * 4 + (s.rows * s.row_element + s.cols * s.element) * s.n;
}

std::int64_t gathered_rows(const formats::FormatView& view) { return formats::blocks_of(view).loads(); }

Roofline roofline(std::int64_t compulsory, std::int64_t gathered, const Ceilings& ceilings, double seconds) {
  const double floor = static_cast<double>(compulsory) / ceilings.copy;
  const double rate = static_cast<double>(gathered) / seconds;
  return {1e6 * floor, floor / seconds, rate, rate / ceilings.l2};
}

}  // namespace sptile::tools
