// Matrices of identical window shapes, for the comparison of tensor cores with CUDA cores (HyGNN, appendix
// A).
#pragma once

#include <cstdint>
#include <vector>

#include "formats/core/csr.hpp"
#include "tools/calibrate/selector.hpp"

namespace sptile::tools {

/// Returns the window shapes to compare, of 1 to 120 columns with 1 to 5 entries each on average: a grid for
/// the fit, and random held-out shapes in between.
std::vector<WindowShape> window_shapes(std::uint64_t seed);

/// Generates `windows` windows of 16 rows with this shape. Each has random columns out of `cols`, with one
/// entry each in a random row; the other entries are at random positions of these columns. No values.
formats::Csr make_windows(const WindowShape& shape, std::int64_t windows, std::int64_t cols,
                          std::uint64_t seed);

}  // namespace sptile::tools
