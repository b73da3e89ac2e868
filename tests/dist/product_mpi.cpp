// One process of a product over MPI: multiplies its part, and compares with its rows of the whole product.
//
//   product_mpi PARTS WHOLE [n=N] [f64] [rank1=n|type|folder:PATH] [dies]
//
// WHOLE is a bundle of the matrix. rank1=... gives rank 1 something else than the others; with `dies` rank 1
// ends before it multiplies. Exit code 0: all is right; else a line on stderr for each process.
#define SPTILE_DIST_MPI
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "sptile_dist.hpp"

namespace {

struct Arguments {
  std::string parts, whole, rank1;
  std::int64_t n = 5;
  bool f64 = false, dies = false;
};

Arguments parse(int argc, char** argv) {
  Arguments a{argv[1], argv[2], {}};
  for (int i = 3; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.starts_with("n=")) a.n = std::stoll(word.substr(2));
    if (word.starts_with("rank1=")) a.rank1 = word.substr(6);
    a.f64 = a.f64 || word == "f64";
    a.dies = a.dies || word == "dies";
  }
  return a;
}

/// Numbers that differ from row to row and column to column.
template <class T>
T number(std::int64_t row, std::int64_t column) {
  return static_cast<T>(std::sin(1.0 + 0.37 * static_cast<double>(row) + 1.3 * static_cast<double>(column)));
}

void fail(const std::string& what) { throw sptile::Exception(SPTILE_CHECK_FAILED, what); }

/// Rows of the whole product, in double, A or A^T times B.
template <class T>
std::vector<double> whole_product(const sptile::Matrix& matrix, std::int64_t n, bool transpose) {
  const sptile::CsrMatrix a = matrix.csr();
  std::vector<double> c(static_cast<std::size_t>(a.rows * n), 0.0);
  for (std::int64_t row = 0; row < a.rows; ++row)
    for (auto e = static_cast<std::size_t>(a.row_ptr[static_cast<std::size_t>(row)]);
         e < static_cast<std::size_t>(a.row_ptr[static_cast<std::size_t>(row) + 1]); ++e) {
      const double value = a.values.type == sptile::Type::f64   ? static_cast<const double*>(a.values.data)[e]
                           : a.values.type == sptile::Type::f32 ? static_cast<const float*>(a.values.data)[e]
                                                                : 1.0;
      const std::int64_t to = transpose ? a.col_idx[e] : row, from = transpose ? row : a.col_idx[e];
      for (std::int64_t j = 0; j < n; ++j)
        c[static_cast<std::size_t>(to * n + j)] += value * static_cast<double>(number<T>(from, j));
    }
  return c;
}

template <class T, class Run>
void compare(const char* what, const std::vector<double>& whole, std::span<const std::int32_t> ids,
             std::int64_t n, const Run& run) {
  std::vector<T> b, c(ids.size() * static_cast<std::size_t>(n), T(-7)), again = c;
  for (const std::int32_t id : ids)
    for (std::int64_t j = 0; j < n; ++j) b.push_back(number<T>(id, j));
  run(b, c);
  run(b, again);
  if (c != again) fail(std::string(what) + ": two runs gave different bits");
  const double tolerance = sizeof(T) == 8 ? 1e-12 : 1e-4;
  for (std::size_t i = 0; i < c.size(); ++i) {
    const std::int64_t row = ids[i / static_cast<std::size_t>(n)];
    const double wanted = whole[static_cast<std::size_t>(row * n) + i % static_cast<std::size_t>(n)];
    if (!(std::abs(static_cast<double>(c[i]) - wanted) <= tolerance * (1 + std::abs(wanted))))
      fail(std::string(what) + ": row " + std::to_string(row) + " has " + std::to_string(c[i]) + ", not " +
           std::to_string(wanted));
  }
}

template <class T>
void check(const Arguments& a, sptile::dist::MpiExchange& exchange, const std::string& parts,
           std::int64_t n) {
  sptile::dist::Product<T, sptile::dist::MpiExchange> product(parts, exchange,
                                                              {.n = n, .transpose = true, .threads = 1});
  if (a.dies && exchange.rank() == 1) _exit(3);
  const sptile::Matrix whole(a.whole);
  compare<T>("A B", whole_product<T>(whole, n, false), product.old_ids(), n,
             [&](const auto& b, auto& c) { product.run(b, c); });
  const std::int64_t sent = static_cast<std::int64_t>(product.part().send_rows().size() * sizeof(T)) * n;
  if (product.bytes_sent() != 2 * sent)
    fail("two runs sent " + std::to_string(product.bytes_sent()) + " bytes, not " + std::to_string(2 * sent));
  compare<T>("A^T B", whole_product<T>(whole, n, true), product.old_ids(), n,
             [&](const auto& b, auto& c) { product.run_transposed(b, c); });
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 0;
  {
    const Arguments a = parse(argc, argv);
    sptile::dist::MpiExchange exchange(MPI_COMM_WORLD);
    const bool odd = exchange.rank() == 1;
    const bool other_folder = odd && a.rank1.starts_with("folder:");
    try {
      const std::string parts = other_folder ? a.rank1.substr(7) : a.parts;
      const std::int64_t n = odd && a.rank1 == "n" ? a.n + 1 : a.n;
      if (a.f64 != (odd && a.rank1 == "type"))
        check<double>(a, exchange, parts, n);
      else
        check<float>(a, exchange, parts, n);
    } catch (const sptile::Exception& e) {
      std::fprintf(stderr, "process %d: %s\n", static_cast<int>(exchange.rank()), e.what());
      status = e.status();
    }
  }
  MPI_Finalize();
  return status;
}
