// Arrays, checks and geometry shared by both formats of Libra.
#pragma once

#include "formats/layout/blocks.hpp"
#include "formats/layout/invariants.hpp"
#include "formats/layout/libra.hpp"

namespace sptile::formats {

inline constexpr int kLibraWindowRows = 8;
inline constexpr ArraySpec kLibraArrays[] = {{"row_window_offset", DType::i32},
                                             {"tc_offset", DType::u32},
                                             {"bitmap", DType::u64},
                                             {"col_id", DType::i32, false, true},
                                             {"values", DType::none, true},
                                             {"residual_row_id", DType::i32},
                                             {"residual_row_offset", DType::i64},
                                             {"residual_col_id", DType::i32, false, true},
                                             {"residual_values", DType::none, true}};

// Functions of FormatLayout; `order` is the order of the columns of a window's tiles.
Status check_libra_lengths(const FormatView& view);
Status check_libra_contents(const FormatView& view, ColumnOrder order, int threads);
std::int64_t libra_tc_blocks(const FormatView& view);
Blocks libra_blocks(const FormatView& view);

}  // namespace sptile::formats
