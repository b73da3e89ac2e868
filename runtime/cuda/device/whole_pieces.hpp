// Whether a dense operand can be moved piece by piece.
#pragma once

#include <cstdint>

#include "formats/layout/format_layout.hpp"
#include "runtime/core/operands.hpp"

namespace sptile::runtime::cuda {

/// True when rows of n elements, `stride` apart, can be read or written in pieces of `piece` bytes.
inline bool whole_pieces(const void* data, std::int64_t stride, std::int64_t n, std::int64_t element_bytes,
                         std::int64_t piece = 16) {
  return reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(piece) == 0 &&
         stride * element_bytes % piece == 0 && n * element_bytes % piece == 0;
}

/// The same for an operand, whichever of its heads it is.
inline bool whole_pieces(const Operand& operand, std::int64_t n, std::int64_t element_bytes,
                         std::int64_t piece = 16) {
  return whole_pieces(operand.data, operand.ld, n, element_bytes, piece) &&
         operand.batch * element_bytes % piece == 0;
}

/// True when the first values can be read 16 bytes at a time: those of a run may stand anywhere.
inline bool whole_values(const formats::FormatView& format) {
  return reinterpret_cast<std::uintptr_t>(format.values().data) % 16 == 0;
}

}  // namespace sptile::runtime::cuda
