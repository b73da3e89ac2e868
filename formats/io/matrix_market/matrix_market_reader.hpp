// Reader of matrix_market.hpp with configurable sizes, for tests and fuzzers.
#pragma once

#include <cstdint>

#include "formats/io/matrix_market/matrix_market.hpp"
#include "formats/io/stream/input_bytes.hpp"

namespace sptile::formats {

/// Sizes that do not affect the result.
struct MtxReadSizes {
  std::int64_t block_bytes = 256 << 10;    ///< text parsed by one task
  std::int64_t segment_entries = 4 << 20;  ///< allocation step if the size of the text is unknown
  std::int64_t memory_limit = 0;           ///< maximum bytes of row pointers; 0: the available memory
};

Result<MtxMatrix> read_matrix_market(InputBytes input, const MtxReadOptions& options,
                                     const MtxReadSizes& sizes = {});

Result<MtxHeader> read_matrix_market_header(InputBytes input, bool real_part);

}  // namespace sptile::formats
