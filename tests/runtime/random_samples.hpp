// Random SDDMM problems for the runtime's tests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/plan/sddmm.hpp"
#include "tests/runtime/random_problem.hpp"

namespace sptile::test {

/// X and Y with leading dimensions, and a result with numbers to add to.
struct Samples {
  std::int64_t n = 0, ldx = 0, ldy = 0;
  runtime::DenseTypes types;
  formats::Array x, y, out;

  Samples(const formats::Csr& a, std::int64_t features, const runtime::DenseTypes& of, Random& random,
          std::int64_t pad = 0)
      : n(features),
        ldx(features + pad),
        ldy(features + 2 * pad),
        types(of),
        x(random_values(std::max<std::int64_t>(1, a.rows * ldx), of.operands, random)),
        y(random_values(std::max<std::int64_t>(1, a.cols * ldy), of.operands, random)),
        out(random_values(a.nnz() + 1, of.result, random)) {}

  [[nodiscard]] std::vector<std::byte> out_bytes() const {
    const auto* bytes = static_cast<const std::byte*>(out.data());
    return {bytes, bytes + out.view().bytes()};
  }
  [[nodiscard]] runtime::SddmmOperands with(void* result, double alpha = 1, double beta = 0,
                                            bool scaled = false) const {
    return {x.data(), ldx, y.data(), ldy, result, alpha, beta, scaled};
  }
};

}  // namespace sptile::test
