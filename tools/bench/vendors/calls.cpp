// Products that cpu_vendors.py times, with prepared arguments, and the timing loop. The script compiles this
// file for the current machine.
#include <chrono>
#include <cstdint>

namespace {

/// Computes a product; returns 0, or the status of the library that failed.
using Run = int (*)(const void* product);

struct SptileProduct {
  int (*run)(void* plan, const void* operands, void* stream, const void* workspace);  ///< sptile_run
  void* plan;
  const void* operands;
};

/// struct matrix_descr of oneMKL.
struct Description {
  int type, mode, diag;
};

constexpr int kNonTranspose = 10, kRowMajor = 101;  // enums of oneMKL

/// A product of oneMKL with 32-bit indices. `multiply` is mkl_sparse_?_mv for n = 1, else mkl_sparse_?_mm.
struct MklProduct {
  void* multiply;
  void* matrix;
  const void* b;
  void* c;
  Description description;
  int n;
};

template <class Real>
int run_mkl(const void* product) {
  using Mv = int (*)(int, Real, void*, Description, const void*, Real, void*);
  using Mm = int (*)(int, Real, void*, Description, int, const void*, int, int, Real, void*, int);
  const auto& p = *static_cast<const MklProduct*>(product);
  if (p.n == 1)
    return reinterpret_cast<Mv>(p.multiply)(kNonTranspose, 1, p.matrix, p.description, p.b, 0, p.c);
  return reinterpret_cast<Mm>(p.multiply)(kNonTranspose, 1, p.matrix, p.description, kRowMajor, p.b, p.n, p.n,
                                          0, p.c, p.n);
}

/// A sequential read of memory, the bound of a product.
struct Reading {
  const std::uint64_t* words;
  std::int64_t count;
  std::uint64_t* sum;  ///< receives the sum of the words, so that the loop is not removed
  int threads;
};

// Four cache lines per iteration, to hide the latency of the additions.
std::uint64_t sum_of(const std::uint64_t* first, const std::uint64_t* last) {
  constexpr int kLanes = 32;
  std::uint64_t lanes[kLanes] = {};
  for (; last - first >= kLanes; first += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += first[lane];
  std::uint64_t sum = 0;
  for (const std::uint64_t lane : lanes) sum += lane;
  for (; first != last; ++first) sum += *first;
  return sum;
}

}  // namespace

extern "C" {

int run_sptile(const void* product) {
  const auto& p = *static_cast<const SptileProduct*>(product);
  return p.run(p.plan, p.operands, nullptr, nullptr);
}

int run_mkl_f32(const void* product) { return run_mkl<float>(product); }

int run_mkl_f64(const void* product) { return run_mkl<double>(product); }

int run_reading(const void* product) {
  const auto& p = *static_cast<const Reading*>(product);
  std::uint64_t sum = 0;
#pragma omp parallel for num_threads(p.threads) reduction(+ : sum)
  for (int part = 0; part < p.threads; ++part)
    sum += sum_of(p.words + p.count * part / p.threads, p.words + p.count * (part + 1) / p.threads);
  *p.sum = sum;
  return 0;
}

/// Runs a product `count` times and stores the seconds of all runs; with `warm`, after one run that is not
/// timed. Returns 0, or the status of the first run that failed.
int time_runs(Run run, const void* product, std::int64_t count, int warm, double* seconds) {
  if (warm != 0)
    if (const int status = run(product); status != 0) return status;
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < count; ++i)
    if (const int status = run(product); status != 0) return status;
  *seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return 0;
}

}  // extern "C"
