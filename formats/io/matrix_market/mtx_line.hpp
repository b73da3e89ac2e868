// One line of the body of a Matrix Market file: the whole grammar, and every complaint about it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/io/matrix_market/matrix_market.hpp"

namespace sptile::formats {

enum class LineKind { entry, skipped, defect };

/// What a line holds. `skipped` is a comment or a blank line.
struct LineContent {
  LineKind kind = LineKind::skipped;
  std::int32_t row = 0, col = 0;  ///< from 0; not for array files
  std::string defect;             ///< what is wrong, and what would be right
};

/// Reads one line without its end. The value, if the field has one, goes to `value`, whose type is `dtype`.
/// Exact about everything that the quick path of parse_block does not take.
LineContent parse_line(const MtxHeader& header, DType dtype, std::string_view line, void* value);

}  // namespace sptile::formats
