// Bytes that a product must move, and how near to the memory's speed a measured time comes.
#pragma once

#include <cstdint>

#include "formats/layout/format_layout.hpp"

namespace sptile::tools {

/// What memory can do at best, in bytes a second; measured, see measure_ceilings.
struct Ceilings {
  double copy = 0;    ///< reads plus writes of a large copy on the device
  double l2 = 0;      ///< reads that hit the L2 cache
  double pinned = 0;  ///< copies from pinned host memory
};

/// One product of an M x K matrix with K x n; `element` is the size of an element of B and C in bytes.
struct ProductShape {
  std::int64_t rows, cols, nnz, n;
  std::int64_t element;
  std::int64_t value;  ///< bytes of one value of A; 0 for a pattern
};

/// Bytes that no kernel can avoid: CSR with 32-bit offsets, B and C, each once.
std::int64_t compulsory_bytes(const ProductShape& shape);

/// Rows of B that a format has its kernel fetch: one for each column id that it stores. Padding of the last
/// tile of a window counts.
std::int64_t gathered_rows(const formats::FormatView& view);

/// Bytes of B that cross from the L2 cache when every column id is fetched once for all of N.
std::int64_t gathered_bytes(const formats::FormatView& view, const ProductShape& shape);

}  // namespace sptile::tools
