// Matrices of windows that are alike, on which tensor cores and CUDA cores are compared (HyGNN, appendix A).
#pragma once

#include <cstdint>
#include <vector>

#include "formats/core/csr.hpp"
#include "tools/calibrate/selector.hpp"

namespace sptile::tools {

/// The windows that are compared: of 1 to 120 columns with 1 to 5 entries each on average, a grid to fit and,
/// in between at random, those held out.
std::vector<WindowShape> window_shapes(std::uint64_t seed);

/// So many windows of 16 rows of this shape. Each has its own columns, of `cols`, with one entry each in a
/// random row; the other entries stand in random places of these columns. No values.
formats::Csr make_windows(const WindowShape& shape, std::int64_t windows, std::int64_t cols,
                          std::uint64_t seed);

}  // namespace sptile::tools
