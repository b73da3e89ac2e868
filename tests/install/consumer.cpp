// Multiplies a matrix in memory and, if a file is given, the matrix of a bundle.
#include <cmath>
#include <iostream>
#include <sptile.hpp>
#include <vector>

// Multiplies A by a matrix of ones. Returns the sum of the first column of C: the sum of all values of A.
double multiply_ones(const sptile::Plan& plan) {
  const std::vector<float> b(plan.cols() * plan.n(), 1.0F);
  std::vector<float> c(plan.rows() * plan.n());
  plan.run(b, c);
  double sum = 0;
  for (std::int64_t r = 0; r < plan.rows(); ++r) sum += c[r * plan.n()];
  return sum;
}

int main(int argc, char** argv) try {
  // [ 1 . 2 ]
  // [ . . . ]
  // [ . 3 . ]
  const std::vector<std::int64_t> row_ptr = {0, 2, 2, 3};
  const std::vector<std::int32_t> col_idx = {0, 2, 1};
  const std::vector<float> values = {1, 2, 3};

  sptile::Matrix small({3, 3, row_ptr, col_idx, values});
  const sptile::Plan plan = small.plan("spmm", {.n = 16});
  const double sum = multiply_ones(plan);
  std::cout << plan.kernel() << ": sum of the values: " << sum << '\n';
  if (sum != 6) return 1;

  if (argc > 1) {
    sptile::Matrix matrix(argv[1]);
    const double expected = multiply_ones(matrix.plan("spmm", {.n = 16, .format = "csr"}));
    for (const std::string& format : matrix.formats()) {
      const auto planned = matrix.plan("spmm", {.n = 16, .format = format});
      const double got = multiply_ones(planned);
      std::cout << planned.kernel() << ": sum of the values: " << got << '\n';
      if (std::abs(got - expected) > 1e-5 * std::abs(expected)) return 1;
    }
  }
  return 0;
} catch (const sptile::Exception& error) {
  std::cerr << "sptile: " << error.what() << '\n';
  return error.status();
}
