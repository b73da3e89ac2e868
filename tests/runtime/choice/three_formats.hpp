// A matrix in three candidate formats.
#pragma once

#include <vector>

#include "tests/runtime/random_problem.hpp"

namespace sptile::test {

struct ThreeFormats {
  Random random{1};
  formats::Csr a = random_matrix(100, 80, 0.1, DType::f32, random);
  Formatted csr = format_matrix(a, "csr"), bittcf = format_matrix(a, "bittcf"),
            bmat = format_matrix(a, "bmat");
  std::vector<runtime::PlanMatrix> matrices = {csr.matrix(), bittcf.matrix(), bmat.matrix()};
};

}  // namespace sptile::test
