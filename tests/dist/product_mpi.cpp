// One process of a product over MPI: multiplies its part, and compares with its rows of the whole product.
//
//   product_mpi PARTS WHOLE [n=N] [f64] [rank1=n|type|folder:PATH] [dies] [hangs] [returns] [never_slower]
//
// WHOLE is a bundle of the matrix. rank1=... gives rank 1 something else than the others; with `dies` rank 1
// ends before it multiplies, with `hangs` it does something else, longer than others wait: two seconds. With
// `returns` errors of MPI are thrown. Exit code 0: all is right; else a line on stderr for each process.
#define SPTILE_DIST_MPI
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "sptile_dist.hpp"
#include "tests/dist/reference.hpp"
#include "tests/dist/watchdog.hpp"

namespace {

using sptile::test::compare;
using sptile::test::fail;
using sptile::test::Reference;

struct Arguments {
  std::string parts, whole, rank1;
  std::int64_t n = 5;
  bool f64 = false, dies = false, hangs = false, returns = false, never_slower = false;
};

Arguments parse(int argc, char** argv) {
  Arguments a{argv[1], argv[2], {}};
  for (int i = 3; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.starts_with("n=")) a.n = std::stoll(word.substr(2));
    if (word.starts_with("rank1=")) a.rank1 = word.substr(6);
    a.f64 = a.f64 || word == "f64";
    a.dies = a.dies || word == "dies";
    a.hangs = a.hangs || word == "hangs";
    a.returns = a.returns || word == "returns";
    a.never_slower = a.never_slower || word == "never_slower";
  }
  return a;
}

/// Both ways give the same rows: MPI that takes device memory takes that of the host, too.
void check_ways(const sptile::Part& part, sptile::dist::MpiExchange& exchange) {
  constexpr std::size_t width = 3;
  std::vector<std::int64_t> sent(part.send_rows().size() * width);
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = exchange.rank() * 1'000'000 + static_cast<int>(i);
  std::vector<std::int64_t> one(static_cast<std::size_t>(part.needed()) * width, -1), other = one;
  exchange.start(sent.data(), part.send_offset(), one.data(), part.receive_offset(), width * sizeof sent[0]);
  exchange.finish();
  exchange.exchange_device_memory(sent.data(), part.send_offset(), other.data(), part.receive_offset(),
                                  width * sizeof sent[0]);
  if (one != other || std::count(one.begin(), one.end(), -1) > 0) fail("the two exchanges differ");
}

template <class T>
void check(const Arguments& a, sptile::dist::MpiExchange& exchange, const std::string& parts,
           std::int64_t n) {
  sptile::test::Watchdog watchdog(exchange.rank());
  watchdog.step("open the part and plan the product");
  sptile::dist::Product<T, sptile::dist::MpiExchange> product(
      parts, exchange,
      {.n = n, .transpose = true, .threads = 1, .measured = a.never_slower, .never_slower = a.never_slower});
  watchdog.step("exchange of rows");
  if (a.dies && exchange.rank() == 1) _exit(3);
  if (a.hangs && exchange.rank() == 1) std::this_thread::sleep_for(std::chrono::minutes(1));
  check_ways(product.part(), exchange);
  const sptile::Matrix whole(a.whole);
  watchdog.step("A B");
  compare("A B", Reference<T>(whole, product.old_ids(), n, false),
          [&](const auto& b, auto& c) { product.run(b, c); });
  const auto& [divided, alone] = product.measured();
  if (product.fell_back() != (a.never_slower && alone < divided)) fail("the slower one was taken");
  const std::int64_t sent =
      product.fell_back() ? 0 : static_cast<std::int64_t>(product.part().send_rows().size() * sizeof(T)) * n;
  if (product.bytes_sent() != 2 * sent)
    fail("two runs sent " + std::to_string(product.bytes_sent()) + " bytes, not " + std::to_string(2 * sent));
  watchdog.step("A^T B");
  compare("A^T B", Reference<T>(whole, product.old_ids(), n, true),
          [&](const auto& b, auto& c) { product.run_transposed(b, c); });
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 0;
  {
    const Arguments a = parse(argc, argv);
    if (a.returns) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    sptile::dist::MpiExchange exchange(MPI_COMM_WORLD, a.hangs ? 2 : 60);
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
      if (a.returns) MPI_Abort(MPI_COMM_WORLD, status);
    }
  }
  MPI_Finalize();
  return status;
}
