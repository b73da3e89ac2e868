// Sizes of a matrix in common formats that sptile does not store.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace sptile::formats {

/// Size of a format in bytes, split into index and value bytes.
struct FormatSize {
  std::string_view name;
  std::int64_t index_bytes = 0;
  std::int64_t value_bytes = 0;
};

/// COO with 32-bit row and column ids: 8 nnz index bytes.
FormatSize coo_size(std::int64_t rows, std::int64_t cols, std::int64_t nnz, std::int64_t value_size);

/// CSR with 32-bit row pointers and column ids: 4 * (M + 1 + nnz) index bytes.
FormatSize csr32_size(std::int64_t rows, std::int64_t cols, std::int64_t nnz, std::int64_t value_size);

/// TCF of TC-GNN (USENIX ATC 2023): 4 * (ceil(M/16) + M + 1 + 3 nnz).
FormatSize tcf_size(std::int64_t rows, std::int64_t cols, std::int64_t nnz, std::int64_t value_size);

}  // namespace sptile::formats
