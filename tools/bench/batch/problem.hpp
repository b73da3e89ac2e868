// Random batches of matrices, and what a product with each must give.
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

/// Matrices that are multiplied together. Operands and results of all stand in one array each.
struct Problem {
  std::string name;
  bool stacked = false;  ///< all are multiplied with the same B; else each with its own rows of it
  std::vector<Member> parts;

  [[nodiscard]] std::int64_t rows() const;  ///< of C
  [[nodiscard]] std::int64_t cols() const;  ///< rows of B
  [[nodiscard]] std::int64_t entries() const;
};

using Random = std::mt19937_64;

/// Numbers in -1..1.
std::vector<float> random_numbers(std::int64_t count, Random& random);

/// Molecules: each atom is bonded with the one before, and some with others; bonds go both ways.
Problem molecules(std::int64_t count, std::int64_t atoms, Random& random);

/// Projections of the heads of one layer of attention, 64 x 768, of which a tenth of the weights is left.
Problem pruned_layers(Random& random);

/// Neighbours that were sampled: 32 times 1024 nodes, each with 10 among 4096.
Problem mini_batches(Random& random);

/// ||C - A B|| / ||A B||, A B summed up in double, matrix by matrix. B and C have n columns.
double error_of(const Problem& problem, std::int64_t n, const std::vector<float>& b,
                const std::vector<float>& c);

}  // namespace sptile::tools::batch
