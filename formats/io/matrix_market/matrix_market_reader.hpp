// The reader of matrix_market.hpp with its sizes open, for tests and fuzzers.
#pragma once

#include <cstdint>

#include "formats/io/matrix_market/matrix_market.hpp"
#include "formats/io/stream/input_bytes.hpp"

namespace sptile::formats {

/// Any sizes give the same result.
struct MtxReadSizes {
  std::int64_t block_bytes = 256 << 10;    ///< text parsed by one task
  std::int64_t segment_entries = 4 << 20;  ///< memory is taken in such steps where the text's size is unknown
  std::int64_t memory_limit = 0;           ///< bytes that row pointers may take; 0: what the system has
};

Result<MtxMatrix> read_matrix_market(InputBytes input, const MtxReadOptions& options,
                                     const MtxReadSizes& sizes = {});

Result<MtxHeader> read_matrix_market_header(InputBytes input, bool real_part);

}  // namespace sptile::formats
