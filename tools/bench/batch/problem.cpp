#include "tools/bench/batch/problem.hpp"

#include <cmath>
#include <set>
#include <utility>

namespace sptile::tools::batch {
namespace {

std::int64_t below(std::int64_t bound, Random& random) {
  return std::uniform_int_distribution<std::int64_t>(0, bound - 1)(random);
}

/// Returns a matrix with entries in the given columns of each row, and random values.
Member part_of(std::int64_t cols, const std::vector<std::set<std::int32_t>>& columns, Random& random) {
  Member part;
  part.rows = std::ssize(columns);
  part.cols = cols;
  for (const std::set<std::int32_t>& row : columns) {
    part.col_idx.insert(part.col_idx.end(), row.begin(), row.end());
    part.row_ptr.push_back(std::ssize(part.col_idx));
  }
  part.values = random_numbers(part.row_ptr.back(), random);
  return part;
}

Member molecule(std::int64_t atoms, Random& random) {
  std::vector<std::set<std::int32_t>> bonds(static_cast<std::size_t>(atoms));
  const auto bond = [&](std::int64_t a, std::int64_t b) {
    if (a == b) return;
    bonds[static_cast<std::size_t>(a)].insert(static_cast<std::int32_t>(b));
    bonds[static_cast<std::size_t>(b)].insert(static_cast<std::int32_t>(a));
  };
  for (std::int64_t i = 1; i < atoms; ++i) bond(i - 1, i);
  for (std::int64_t i = 0; i < atoms / 8; ++i) bond(below(atoms, random), below(atoms, random));
  return part_of(atoms, bonds, random);
}

/// Returns a matrix with `row_entries` entries at random columns of each row.
Member sampled(std::int64_t rows, std::int64_t cols, std::int64_t row_entries, Random& random) {
  std::vector<std::set<std::int32_t>> columns(static_cast<std::size_t>(rows));
  for (std::set<std::int32_t>& row : columns)
    while (std::ssize(row) < row_entries) row.insert(static_cast<std::int32_t>(below(cols, random)));
  return part_of(cols, columns, random);
}

/// Sums of squared differences and of squared lengths.
struct Sums {
  double difference = 0, length = 0;

  /// Adds the sums of a matrix; b and c point to its operands.
  void add(const Member& a, std::int64_t n, const float* b, const float* c) {
    std::vector<double> exact(static_cast<std::size_t>(n));
    for (std::size_t r = 0; r < static_cast<std::size_t>(a.rows); ++r) {
      exact.assign(exact.size(), 0);
      for (auto i = static_cast<std::size_t>(a.row_ptr[r]); i < static_cast<std::size_t>(a.row_ptr[r + 1]);
           ++i)
        for (std::size_t j = 0; j < exact.size(); ++j)
          exact[j] += static_cast<double>(a.values[i]) *
                      static_cast<double>(b[static_cast<std::size_t>(a.col_idx[i]) * exact.size() + j]);
      for (std::size_t j = 0; j < exact.size(); ++j) {
        const double d = static_cast<double>(c[r * exact.size() + j]) - exact[j];
        difference += d * d;
        length += exact[j] * exact[j];
      }
    }
  }
};

}  // namespace

std::int64_t Problem::rows() const {
  std::int64_t all = 0;
  for (const Member& part : parts) all += part.rows;
  return all;
}

std::int64_t Problem::cols() const {
  if (stacked) return parts.front().cols;
  std::int64_t all = 0;
  for (const Member& part : parts) all += part.cols;
  return all;
}

std::int64_t Problem::entries() const {
  std::int64_t all = 0;
  for (const Member& part : parts) all += part.row_ptr.back();
  return all;
}

std::vector<float> random_numbers(std::int64_t count, Random& random) {
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (float& x : numbers) x = std::uniform_real_distribution<float>(-1, 1)(random);
  return numbers;
}

Problem molecules(std::int64_t count, std::int64_t atoms, Random& random) {
  Problem problem{"molecules", false, {}};
  for (std::int64_t i = 0; i < count; ++i) problem.parts.push_back(molecule(atoms, random));
  return problem;
}

Problem pruned_layers(Random& random) {
  constexpr int kHeads = 12, kProjections = 3;  // queries, keys, values
  constexpr std::int64_t kRows = 64, kWidth = 768, kLeft = 77;
  Problem problem{"layers", true, {}};
  for (int i = 0; i < kHeads * kProjections; ++i)
    problem.parts.push_back(sampled(kRows, kWidth, kLeft, random));
  return problem;
}

Problem mini_batches(Random& random) {
  constexpr int kBatches = 32;
  constexpr std::int64_t kNodes = 1024, kNeighbours = 4096, kSampled = 10;
  Problem problem{"mini-batches", false, {}};
  for (int i = 0; i < kBatches; ++i) problem.parts.push_back(sampled(kNodes, kNeighbours, kSampled, random));
  return problem;
}

double error_of(const Problem& problem, std::int64_t n, const std::vector<float>& b,
                const std::vector<float>& c) {
  Sums sums;
  const float *own_b = b.data(), *own_c = c.data();
  for (const Member& part : problem.parts) {
    sums.add(part, n, own_b, own_c);
    if (!problem.stacked) own_b += part.cols * n;
    own_c += part.rows * n;
  }
  return sums.difference == 0 ? 0 : std::sqrt(sums.difference / sums.length);
}

}  // namespace sptile::tools::batch
