// Matrices of the cases.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "tests/runtime/random_problem.hpp"

namespace sptile::test {

struct Shape {
  std::string_view name;
  std::int64_t rows, cols;
  double (*density)(std::int64_t row, std::int64_t column);
};
extern const std::span<const Shape> kShapes;

/// A matrix in one format.
struct Matrix {
  formats::Csr csr;
  Formatted formatted;
  formats::Array packed;  ///< position of each CSR entry among the format's values
};

/// Creates each matrix once.
class Matrices {
 public:
  const Matrix& get(std::string_view shape, DType values, std::string_view format, bool permuted);

 private:
  struct Made;
  std::vector<std::unique_ptr<Made>> made_;

 public:
  Matrices();
  ~Matrices();
};

}  // namespace sptile::test
