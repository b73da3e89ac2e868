#include "tools/roofline.hpp"

#include <algorithm>
#include <string_view>

namespace sptile::tools {
namespace {
// Arrays of column ids; every format has one of the first three.
constexpr std::string_view kColumnIds[] = {"col_idx", "sparse_a_to_b", "col_id", "residual_col_id"};
}  // namespace

std::int64_t compulsory_bytes(const ProductShape& s) {
  return s.nnz * (4 + s.value) + (s.rows + 1) * 4 + (s.rows + s.cols) * s.n * s.element;
}

std::int64_t gathered_rows(const formats::FormatView& view) {
  std::int64_t rows = 0;
  for (std::size_t i = 0; i < view.layout->arrays.size(); ++i)
    if (std::find(std::begin(kColumnIds), std::end(kColumnIds), view.layout->arrays[i].name) !=
        std::end(kColumnIds))
      rows += view.arrays[i].size;
  return rows;
}

Roofline roofline(std::int64_t compulsory, std::int64_t gathered, const Ceilings& ceilings, double seconds) {
  const double floor = static_cast<double>(compulsory) / ceilings.copy;
  const double rate = static_cast<double>(gathered) / seconds;
  return {1e6 * floor, floor / seconds, rate, rate / ceilings.l2};
}

}  // namespace sptile::tools
