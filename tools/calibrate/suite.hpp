// Matrices for the calibration of a device.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "formats/core/csr.hpp"
#include "formats/core/error.hpp"

namespace sptile::tools {

/// A generated matrix.
struct SuiteMatrix {
  const char* kind;
  double arguments[3];  ///< in the order of the generator's table
  bool shuffle;
  bool quick;  ///< also part of --quick
};

/// Returns the suite: graphs, grids, stencils, communities, molecules, nearly dense matrices, and matrices of
/// few columns, as in pruned layers; small ones and some whose B exceeds any cache.
std::span<const SuiteMatrix> calibration_suite();

/// Returns a name such as "rmat 17 2000000" for tables and CSV files.
std::string name_of(const SuiteMatrix& matrix);

/// Generates the matrix with values.
Result<formats::Csr> make(const SuiteMatrix& matrix, std::uint64_t seed);

}  // namespace sptile::tools
