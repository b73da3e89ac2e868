// Random batches of matrices, and the expected products.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace sptile::tools::batch {

/// A CSR matrix in host memory.
struct Member {
  std::int64_t rows = 0, cols = 0;
  std::vector<std::int64_t> row_ptr{0};
  std::vector<std::int32_t> col_idx;
  std::vector<float> values;
};

/// Matrices that are multiplied together. Their operands and results are concatenated.
struct Problem {
  std::string name;
  bool stacked = false;  ///< all are multiplied by the same B; otherwise each by its own rows of B
  std::vector<Member> parts;

  [[nodiscard]] std::int64_t rows() const;  ///< rows of C
  [[nodiscard]] std::int64_t cols() const;  ///< rows of B
  [[nodiscard]] std::int64_t entries() const;
};

using Random = std::mt19937_64;

/// Returns random numbers in (-1, 1).
std::vector<float> random_numbers(std::int64_t count, Random& random);

/// Returns molecules: each atom is bonded to the previous one, and some to others, in both directions.
Problem molecules(std::int64_t count, std::int64_t atoms, Random& random);

/// Returns the projections of the heads of one attention layer, 64 x 768, pruned to a tenth of the weights.
Problem pruned_layers(Random& random);

/// Returns sampled neighborhoods: 32 matrices of 1024 nodes with 10 neighbors each out of 4096.
Problem mini_batches(Random& random);

/// Returns ||C - A B|| / ||A B||, with A B computed in double, matrix by matrix. B and C have n columns.
double error_of(const Problem& problem, std::int64_t n, const std::vector<float>& b,
                const std::vector<float>& c);

}  // namespace sptile::tools::batch
