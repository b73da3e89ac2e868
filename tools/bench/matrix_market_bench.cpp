// Times the Matrix Market reader and writer: one JSON object on stdout. tools/bench/matrix_market.py compares
// it with another library.
#include <sys/resource.h>
#include <tbb/global_control.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "formats/core/dtype_names.hpp"
#include "formats/io/matrix_market/matrix_market.hpp"

namespace {

using namespace sptile;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::int64_t peak_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

int complain(const Error& error) {
  std::cerr << error.text() << '\n';
  return static_cast<int>(error.code);
}

int usage() {
  std::cerr << "usage: matrix_market_bench read IN.mtx THREADS REPEATS DTYPE\n"
               "       matrix_market_bench write IN.mtx THREADS REPEATS DTYPE OUT.mtx\n";
  return static_cast<int>(Errc::usage);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view op = argc > 1 ? argv[1] : "";
  if (!(op == "read" && argc == 6) && !(op == "write" && argc == 7)) return usage();
  const std::string in = argv[2];
  const int threads = std::atoi(argv[3]), repeats = std::atoi(argv[4]);
  const auto dtype = parse_value_dtype(argv[5]);
  if (threads < 1 || repeats < 1 || !dtype) return usage();

  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(threads));
  formats::MtxReadOptions options;
  options.dtype = *dtype;
  std::vector<double> seconds;
  Result<formats::MtxMatrix> matrix;
  for (int i = 0; i < (op == "read" ? repeats : 1); ++i) {
    matrix = formats::MtxMatrix();
    const auto start = std::chrono::steady_clock::now();
    matrix = formats::read_matrix_market(in, options);
    seconds.push_back(seconds_since(start));
    if (!matrix) return complain(matrix.error());
  }
  if (op == "write") {
    seconds.clear();
    formats::MtxWriteOptions write_options;
    write_options.force = true;
    for (int i = 0; i < repeats; ++i) {
      const auto start = std::chrono::steady_clock::now();
      const Status done = formats::write_matrix_market(matrix->csr.view(), argv[6], write_options);
      seconds.push_back(seconds_since(start));
      if (!done) return complain(done.error());
    }
  }
  const formats::Csr& csr = matrix->csr;
  const std::int64_t csr_bytes = 8 * csr.row_ptr.size() + 4 * csr.nnz() + csr.values.view().bytes();
  std::cout << nlohmann::json{{"op", op},
                              {"rows", csr.rows},
                              {"cols", csr.cols},
                              {"nnz", csr.nnz()},
                              {"threads", threads},
                              {"seconds", seconds},
                              {"csr_bytes", csr_bytes},
                              {"peak_bytes", peak_bytes()}}
            << '\n';
}
