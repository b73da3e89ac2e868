// Alignment checks for vector access to dense operands.
#pragma once

#include <cstdint>

#include "formats/layout/format_layout.hpp"
#include "runtime/core/operands.hpp"

namespace sptile::runtime::cuda {

/// Returns whether rows of n elements, `stride` elements apart, can be accessed in vectors of `piece` bytes.
inline bool whole_pieces(const void* data, std::int64_t stride, std::int64_t n, std::int64_t element_bytes,
                         std::int64_t piece = 16) {
  return reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(piece) == 0 &&
         stride * element_bytes % piece == 0 && n * element_bytes % piece == 0;
}

/// Returns whether the rows of all heads of an operand can be accessed in vectors of `piece` bytes.
inline bool whole_pieces(const Operand& operand, std::int64_t n, std::int64_t element_bytes,
                         std::int64_t piece = 16) {
  return whole_pieces(operand.data, operand.ld, n, element_bytes, piece) &&
         operand.batch * element_bytes % piece == 0;
}

/// Returns whether the bytes between rows fit in 32 bits, so that the address of a row takes one instruction.
inline bool short_stride(const Operand& operand, std::int64_t element_bytes) {
  return operand.ld <= std::int64_t{UINT32_MAX} / element_bytes;
}

/// Returns whether values can be loaded in 16-byte vectors; values passed to a run may have any alignment.
inline bool whole_values(const formats::FormatView& format) {
  return reinterpret_cast<std::uintptr_t>(format.values().data) % 16 == 0;
}

}  // namespace sptile::runtime::cuda
