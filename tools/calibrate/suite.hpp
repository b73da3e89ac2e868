// The matrices that a device is calibrated with.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "formats/core/csr.hpp"
#include "formats/core/error.hpp"

namespace sptile::tools {

/// One matrix of a generator.
struct SuiteMatrix {
  const char* kind;
  double arguments[3];  ///< in the order of the generator's table
  bool shuffle;
  bool quick;  ///< also part of --quick
};

/// Graphs, grids, stencils, communities, molecules, nearly dense matrices and some of few columns, as pruned
/// layers have; small ones and some whose B exceeds any cache.
std::span<const SuiteMatrix> calibration_suite();

/// "rmat 17 2000000": for tables and CSV files.
std::string name_of(const SuiteMatrix& matrix);

/// Makes it, with values.
Result<formats::Csr> make(const SuiteMatrix& matrix, std::uint64_t seed);

}  // namespace sptile::tools
