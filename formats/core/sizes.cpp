#include "formats/core/sizes.hpp"

namespace sptile::formats {

FormatSize coo_size(std::int64_t, std::int64_t, std::int64_t nnz, std::int64_t value_size) {
  return {"coo", 8 * nnz, value_size * nnz};
}

FormatSize csr32_size(std::int64_t rows, std::int64_t, std::int64_t nnz, std::int64_t value_size) {
  return {"csr32", 4 * (rows + 1 + nnz), value_size * nnz};
}

FormatSize tcf_size(std::int64_t rows, std::int64_t, std::int64_t nnz, std::int64_t value_size) {
  const std::int64_t windows = (rows + 15) / 16;
  return {"tcf", 4 * (windows + rows + 1 + 3 * nnz), value_size * nnz};
}

}  // namespace sptile::formats
