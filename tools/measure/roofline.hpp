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

/// One product of an M x K matrix with K x n, or the samples of M x n times n x K at its entries; `element`
/// is the size of an element of the dense operands in bytes, `row_element` that of the one that has a
/// row for each of A.
struct ProductShape {
  std::int64_t rows, cols, nnz, n;
  std::int64_t element;
  std::int64_t value;  ///< bytes of one value of A; 0 for a pattern; of the result of SDDMM
  std::int64_t row_element;
};

/// Bytes that no kernel can avoid: CSR with 32-bit offsets and the dense operands, each once.
std::int64_t compulsory_bytes(const ProductShape& shape);

/// Rows of B, or Y, that a format has its kernel fetch from the L2 cache, each once for all of N: one for
/// each column id that it stores. Padding of the last tile of a window counts.
std::int64_t gathered_rows(const formats::FormatView& view);

/// What a time means beside the bytes.
struct Roofline {
  double floor_us = 0;   ///< compulsory bytes at the speed of a copy
  double hbm_ratio = 0;  ///< floor over time: 1 is as fast as memory allows
  double l2_rate = 0;    ///< gathered bytes a second
  double l2_ratio = 0;   ///< of what the L2 cache can do; above 1 where rows of B are reused closer by
};

Roofline roofline(std::int64_t compulsory, std::int64_t gathered, const Ceilings& ceilings, double seconds);

}  // namespace sptile::tools
