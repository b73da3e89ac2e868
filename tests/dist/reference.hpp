// Reference of distributed products: sampled rows in double, and a weighted sum of all rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "sptile.hpp"

namespace sptile::test {

/// Returns 64 pseudorandom bits that depend on a row and a column only (finalizer of SplitMix64).
constexpr std::uint64_t hash(std::int64_t row, std::int64_t column) {
  std::uint64_t x = static_cast<std::uint64_t>(row) * 0x9e3779b97f4a7c15U +
                    static_cast<std::uint64_t>(column) * 0xd1b54a32d192ed03U;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
  x = (x ^ x >> 27) * 0x94d049bb133111ebU;
  return x ^ x >> 31;
}

/// Returns the element of B in a row and column: in [-1, 1), with a random significand of all bits of T.
template <class T>
constexpr T number(std::int64_t row, std::int64_t column) {
  constexpr int bits = std::numeric_limits<T>::digits;
  constexpr T unit = T(1) / static_cast<T>(std::int64_t{1} << (bits - 1));
  return static_cast<T>(static_cast<std::int64_t>(hash(row, column) >> (64 - bits))) * unit - 1;
}

/// Returns the weight of a row in the sum of all rows: of magnitude 1 to 2, with either sign.
inline double weight(std::int64_t row) {
  const double fraction = number<double>(row, -1);
  return fraction + (fraction < 0 ? -1 : 1);
}

[[noreturn]] inline void fail(const std::string& what) { throw Exception(SPTILE_STATUS_CHECK_FAILED, what); }

/// Returns rows `ids` of B.
template <class T>
std::vector<T> rows_of_b(std::span<const std::int32_t> ids, std::int64_t n) {
  std::vector<T> b(ids.size() * static_cast<std::size_t>(n));
  std::size_t at = 0;
  for (const std::int32_t id : ids)
    for (std::int64_t j = 0; j < n; ++j) b[at++] = number<T>(id, j);
  return b;
}

/// Maximum error of a product computed in T, see Sum.
template <class T>
constexpr double tolerance_of = sizeof(T) == 8 ? 1e-12 : 1e-4;

/// A sum of products in double. Rounding errors of a sum grow with the norm of its terms.
struct Sum {
  double value = 0, squares = 0;

  void add(double product) {
    value += product;
    squares += product * product;
  }
  [[nodiscard]] bool near(double found, double tolerance) const {
    return std::abs(found - value) <= tolerance * (1 + std::abs(value) + std::sqrt(squares));
  }
};

/// Rows `ids` of A B or A^T B for a square matrix A and the B of rows_of_b.
///
/// A product of few nonzeros is compared row by row. Of a larger one, rows are sampled until `work`
/// multiply-adds are spent: half of it on boundary rows, which have nonzeros in columns outside `ids`, the
/// rest on interior rows. The first, last and longest row of both kinds are always sampled, other rows at
/// random. In addition, a sum of all rows with random weights is compared: w^T C = (w^T A) B takes O(nnz +
/// rows * n) operations (Freivalds, "Probabilistic machines can use less running time", 1977).
///
/// The check misses errors below the tolerance. Errors of unsampled rows are missed if they cancel in the
/// weighted sums of all columns, or are small compared with the norm of the sum. The sum shows one wrong row
/// among about 10^8 rows in f32, but only among about 10^5 in tf32; one wrong nonzero among about 10^7 in f32
/// and 10^4 in tf32.
template <class T>
class Reference {
 public:
  /// Default of `work`, less than a second.
  static constexpr std::int64_t usual_work = std::int64_t{1} << 27;

  Reference(const Matrix& matrix, std::span<const std::int32_t> ids, std::int64_t n, bool transpose,
            std::int64_t work = usual_work)
      : a_(matrix.csr()), transpose_(transpose), ids_(ids.begin(), ids.end()), n_(n) {
    if (a_.rows != a_.cols) fail("the matrix is not square");
    if (a_.values.data != nullptr && a_.values.type != Type::f32 && a_.values.type != Type::f64)
      fail("the values of the matrix are neither f32 nor f64");
    survey();
    sample(work);
    multiply();
    a_ = {};
  }

  [[nodiscard]] std::span<const std::int32_t> ids() const { return ids_; }
  [[nodiscard]] std::int64_t n() const { return n_; }
  /// Returns the positions in `ids` of sampled rows, and of those that are at the boundary.
  [[nodiscard]] std::span<const std::int32_t> sampled() const { return sampled_; }
  [[nodiscard]] std::span<const std::int32_t> boundary() const { return boundary_; }

  /// Checks that c contains rows `ids` of the product.
  void compare(const std::string& what, const std::vector<T>& c, double tolerance = tolerance_of<T>) const {
    if (c.size() != ids_.size() * width())
      fail(what + ": " + std::to_string(c.size()) + " elements, not " + std::to_string(ids_.size()) +
           " rows of " + std::to_string(n_));
    for (std::size_t slot = 0; slot < sampled_.size(); ++slot)
      for (std::size_t j = 0; j < width(); ++j) {
        const auto i = static_cast<std::size_t>(sampled_[slot]);
        const double found = c[i * width() + j];
        const Sum& wanted = rows_[slot * width() + j];
        if (!wanted.near(found, tolerance))
          refuse(what + ": row " + std::to_string(ids_[i]), j, found, wanted);
      }
    std::vector<double> sums(width());
    for (std::size_t i = 0; i < ids_.size(); ++i)
      for (std::size_t j = 0; j < width(); ++j)
        sums[j] += own_[i].weight * static_cast<double>(c[i * width() + j]);
    for (std::size_t j = 0; j < width(); ++j)
      if (!sums_[j].near(sums[j], tolerance))
        refuse(what + ": an unsampled row is wrong: the weighted sum of all rows", j, sums[j], sums_[j]);
  }

 private:
  [[nodiscard]] std::size_t width() const { return static_cast<std::size_t>(n_); }

  [[noreturn]] static void refuse(const std::string& what, std::size_t column, double found,
                                  const Sum& wanted) {
    fail(what + " has " + std::to_string(found) + " in column " + std::to_string(column) + ", not " +
         std::to_string(wanted.value));
  }

  /// Calls take(place[row of the product], row of B, value) for all nonzeros whose place is not negative.
  template <class Take>
  void visit(const std::vector<std::int32_t>& place, const Take& take) const {
    const auto value = [&](std::size_t e) {
      if (a_.values.data == nullptr) return 1.0;
      return a_.values.type == Type::f64 ? static_cast<const double*>(a_.values.data)[e]
                                         : static_cast<const float*>(a_.values.data)[e];
    };
    for (std::size_t row = 0; row < place.size(); ++row) {
      if (!transpose_ && place[row] < 0) continue;
      for (auto e = static_cast<std::size_t>(a_.row_ptr[row]);
           e < static_cast<std::size_t>(a_.row_ptr[row + 1]); ++e) {
        const auto column = static_cast<std::size_t>(a_.col_idx[e]);
        const std::int32_t at = place[transpose_ ? column : row];
        if (at >= 0) take(static_cast<std::size_t>(at), transpose_ ? row : column, value(e));
      }
    }
  }

  /// Returns the number of each of `positions` for its row of the product, and -1 for other rows.
  [[nodiscard]] std::vector<std::int32_t> places(std::span<const std::int32_t> positions) const {
    std::vector<std::int32_t> place(static_cast<std::size_t>(a_.rows), -1);
    for (std::size_t i = 0; i < positions.size(); ++i)
      place[static_cast<std::size_t>(ids_[static_cast<std::size_t>(positions[i])])] =
          static_cast<std::int32_t>(i);
    return place;
  }

  // A nonzero accesses one Row and one RowOfB, and one of them is a cache miss: each has all that is needed.
  struct Row {
    double weight = 0;
    std::int32_t nonzeros = 0;
    bool reaches_out = false;  // is a boundary row
  };
  struct RowOfB {
    double sum = 0;       // of its column of A, weighted
    float squares = 0;    // sum of squares of these terms
    bool is_own = false;  // is in `ids`
  };

  /// Finds the lengths of rows, boundary rows, and the weighted sum of the product.
  void survey() {
    std::vector<std::int32_t> all(ids_.size());
    std::vector<RowOfB> of_b(static_cast<std::size_t>(a_.rows));
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = static_cast<std::int32_t>(i);
      own_.push_back({.weight = weight(ids_[i])});
      of_b[static_cast<std::size_t>(ids_[i])].is_own = true;
    }
    visit(places(all), [&](std::size_t i, std::size_t from, double value) {
      Row& row = own_[i];
      RowOfB& other = of_b[from];
      const double weighted = row.weight * value;
      ++row.nonzeros;
      row.reaches_out |= !other.is_own;
      other.sum += weighted;
      other.squares += static_cast<float>(weighted * weighted);
    });
    for (const std::int32_t i : all)
      (own_[static_cast<std::size_t>(i)].reaches_out ? boundary_ : interior_).push_back(i);
    sums_.resize(width());
    for (std::size_t from = 0; from < of_b.size(); ++from) {
      if (of_b[from].squares == 0) continue;
      for (std::size_t j = 0; j < width(); ++j) {
        const double b = number<T>(static_cast<std::int64_t>(from), static_cast<std::int64_t>(j));
        sums_[j].value += of_b[from].sum * b;
        sums_[j].squares += static_cast<double>(of_b[from].squares) * b * b;
      }
    }
  }

  void sample(std::int64_t work) {
    std::vector<char> taken(ids_.size());
    const std::int64_t left = sample_of(boundary_, work / 2, taken);
    sample_of(interior_, work - work / 2 + left, taken);
    for (std::size_t i = 0; i < taken.size(); ++i)
      if (taken[i]) sampled_.push_back(static_cast<std::int32_t>(i));
  }

  /// Marks sampled rows of one kind. Returns the work that is left.
  std::int64_t sample_of(const std::vector<std::int32_t>& kind, std::int64_t work,
                         std::vector<char>& taken) const {
    if (kind.empty()) return work;
    const auto cost = [&](std::int32_t i) {
      return (std::int64_t{own_[static_cast<std::size_t>(i)].nonzeros} + 1) * n_;
    };
    const auto take = [&](std::int32_t i) {
      if (taken[static_cast<std::size_t>(i)]) return;
      taken[static_cast<std::size_t>(i)] = 1;
      work -= cost(i);
    };
    std::int64_t total = 0;
    for (const std::int32_t i : kind) total += cost(i);
    const bool all = total <= work;
    take(kind.front());
    take(kind.back());
    take(*std::max_element(kind.begin(), kind.end(),
                           [&](std::int32_t x, std::int32_t y) { return cost(x) < cost(y); }));
    for (std::size_t draw = 0; draw < kind.size(); ++draw) {
      const std::int32_t i = kind[all ? draw : hash(static_cast<std::int64_t>(draw), n_) % kind.size()];
      if (cost(i) <= work) take(i);
    }
    return std::max<std::int64_t>(work, 0);
  }

  /// Computes sampled rows.
  void multiply() {
    rows_.resize(sampled_.size() * width());
    visit(places(sampled_), [&](std::size_t slot, std::size_t from, double value) {
      for (std::size_t j = 0; j < width(); ++j)
        rows_[slot * width() + j].add(value * static_cast<double>(number<T>(static_cast<std::int64_t>(from),
                                                                            static_cast<std::int64_t>(j))));
    });
  }

  CsrMatrix a_;
  bool transpose_;
  std::vector<std::int32_t> ids_;
  std::int64_t n_;
  std::vector<Row> own_;                           // of `ids`
  std::vector<std::int32_t> boundary_, interior_;  // positions in `ids`
  std::vector<std::int32_t> sampled_;              // positions in `ids`, ascending
  std::vector<Sum> rows_, sums_;                   // sampled rows; weighted sum of all rows
};

/// Runs twice: the bits must be equal, and the numbers correct.
template <class T, class Run>
void compare(const std::string& what, const Reference<T>& reference, const Run& run,
             double tolerance = tolerance_of<T>) {
  const std::vector<T> b = rows_of_b<T>(reference.ids(), reference.n());
  std::vector<T> c(b.size(), T(-7)), again = c;
  run(b, c);
  run(b, again);
  if (c != again) fail(what + ": two runs gave different bits");
  reference.compare(what, c, tolerance);
}

}  // namespace sptile::test
