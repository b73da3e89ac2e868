// Products with operands in the memory of one CUDA device, by threads that share it: all that products over
// NCCL do, but NCCL. Rows go through pinned memory.
//
//   product_cuda PARTS WHOLE
//
// WHOLE is a bundle of the matrix. Exit code 0: all is right; 77: there is no device; else stderr says what
// is wrong.
#define SPTILE_DIST_CUDA
#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "sptile_dist.hpp"
#include "tests/dist/device_product.hpp"
#include "tests/dist/threads.hpp"
#include "tests/dist/watchdog.hpp"

namespace {

namespace dist = sptile::dist;
using sptile::test::Reference;
using Staged = dist::StagedExchange<sptile::test::ThreadExchange>;

template <class T>
void check(const std::string& parts, const std::string& whole_path) {
  sptile::test::Threads threads(sptile::Part(dist::detail::path_of_part(parts, 0)).parts());
  threads.run([&](std::int64_t rank) {
    sptile::test::Watchdog watchdog(rank);
    watchdog.step("open the matrix and the part");
    const sptile::Matrix whole(whole_path);
    sptile::test::ThreadExchange host(threads, rank);
    Staged exchange(host);
    const sptile::Part part(dist::detail::path_of_part(parts, rank));
    for (const std::int64_t n : {1, 5, 64}) {
      watchdog.step("rows for others, n = " + std::to_string(n));
      sptile::test::check_selected_rows<T, dist::CudaMemory>(part, n);
      for (const bool never_slower : {false, true}) {
        watchdog.step("products, n = " + std::to_string(n) + (never_slower ? ", never slower" : ""));
        dist::Product<T, Staged, dist::CudaMemory> product(
            parts, exchange,
            {.n = n, .transpose = true, .measured = never_slower, .never_slower = never_slower});
        sptile::test::check_device_product(product, Reference<T>(whole, product.old_ids(), n, false),
                                           Reference<T>(whole, product.old_ids(), n, true));
      }
    }
  });
}

}  // namespace

int main(int, char** argv) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "SKIP: there is no CUDA device\n");
    return 77;
  }
  if (sptile::Matrix(argv[2]).type() == sptile::Type::f64)
    check<double>(argv[1], argv[2]);
  else
    check<float>(argv[1], argv[2]);
  return 0;
}
