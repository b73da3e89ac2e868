// Compulsory memory traffic of a product, and measured times relative to the memory bandwidth.
#pragma once

#include <cstdint>

#include "formats/layout/format_layout.hpp"

namespace sptile::tools {

/// Peak memory bandwidths in bytes per second, from measure_ceilings.
struct Ceilings {
  double copy = 0;    ///< reads plus writes of a large copy on the device
  double l2 = 0;      ///< reads that hit the L2 cache
  double pinned = 0;  ///< copies from pinned host memory
};

/// An SpMM of an M x K matrix with K x n, or an SDDMM of M x n and n x K at its entries. `element` is the
/// size of a dense element in bytes, `row_element` that of the operand with one row per row of A.
struct ProductShape {
  std::int64_t rows, cols, nnz, n;
  std::int64_t element;
  std::int64_t value;  ///< bytes of a value of A, 0 for a pattern; of the result of SDDMM
  std::int64_t row_element;
};

/// Returns the minimum bytes of any kernel: CSR with 32-bit columns and the dense operands, each read or
/// written once.
std::int64_t compulsory_bytes(const ProductShape& shape);

/// Returns the rows of B, or Y, that a kernel of the format loads from L2 once for all of N: one per stored
/// column id, including padding of the last tile of a window.
std::int64_t gathered_rows(const formats::FormatView& view);

/// A time relative to the bounds.
struct Roofline {
  double floor_us = 0;   ///< compulsory bytes at copy bandwidth
  double hbm_ratio = 0;  ///< floor over time: 1 is the memory bound
  double l2_rate = 0;    ///< gathered bytes per second
  double l2_ratio = 0;   ///< fraction of the L2 bandwidth; above 1 if rows of B are reused in L1
};

Roofline roofline(std::int64_t compulsory, std::int64_t gathered, const Ceilings& ceilings, double seconds);

}  // namespace sptile::tools
