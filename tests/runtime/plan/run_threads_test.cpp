#include "runtime/plan/run_threads.hpp"

#include <doctest/doctest.h>

#include "runtime/operation/attention.hpp"
#include "runtime/operation/spmm.hpp"
#include "runtime/operation/spmm_update.hpp"
#include "tests/runtime/all_threads.hpp"

namespace sptile::runtime {
namespace {

OperandSizes sizes_of(std::int64_t rows, std::int64_t nnz, const RunSizes& run) {
  return {.rows = rows, .cols = rows, .nnz = nnz, .run = run};
}

}  // namespace

TEST_CASE("run threads: small work stays on one thread") {
  CHECK(threads_for(0, 8).max == 1);
  CHECK(threads_for(10e3, 8).max == 1);
  // The graph of Cora with 16 features, and a vector.
  CHECK(threads_for(estimated_time(kSpmm, sizes_of(2708, 13264, {16, 16, 1}), DType::f32), 8).max == 1);
  CHECK(threads_for(estimated_time(kSpmm, sizes_of(2708, 13264, {1, 1, 1}), DType::f32), 8).max == 1);
}

TEST_CASE("run threads: more work has more threads, up to those of the plan") {
  int before = 1;
  for (double time = 1e3; time < 1e8; time *= 2) {
    const int threads = threads_for(time, 6).max;
    CHECK(threads >= before);
    CHECK(threads <= 6);
    before = threads;
  }
  CHECK(before == 6);
  CHECK(threads_for(1e30, 4096).max == 4096);
  CHECK(threads_for(1e9, 1).max == 1);
  CHECK(threads_for(1e9, 0).max == 1);
}

TEST_CASE("run threads: sleeping workers are woken for long work") {
  CHECK(threads_for(50e3, 2).wake == Wake::in_series);
  CHECK(threads_for(500e3, 2).wake == Wake::usually);
  CHECK(threads_for(5e6, 2).wake == Wake::always);
}

TEST_CASE("run threads: the estimate grows with nonzeros, columns, heads, types and weights") {
  const auto time = [](const Operation& op, std::int64_t nnz, const RunSizes& run, DType type) {
    return estimated_time(op, sizes_of(1000, nnz, run), type);
  };
  const double one = time(kSpmm, 10000, {32, 32, 1}, DType::f32);
  CHECK(time(kSpmm, 20000, {32, 32, 1}, DType::f32) > one);
  CHECK(time(kSpmm, 10000, {64, 64, 1}, DType::f32) > one);
  CHECK(time(kSpmm, 10000, {32, 32, 1}, DType::f64) > one);
  CHECK(time(kSpmm, 10000, {32, 32, 4}, DType::f32) == doctest::Approx(4 * one));
  CHECK(time(kAttention, 10000, {32, 32, 1}, DType::f32) > one);
  // The product with the weights alone is 1000 * 32 * 512 multiplications.
  CHECK(time(kSpmmUpdate, 10000, {32, 512, 1}, DType::f32) > 10 * one);
  CHECK(time(kSpmm, 0, {1, 1, 1}, DType::f32) > 0);  // C is written
}

TEST_CASE("run threads: tests may have all threads for any work") {
  {
    const test::AllThreads all;
    CHECK(threads_for(1, 7).max == 7);
    CHECK(threads_for(1, 7).wake == Wake::always);
  }
  CHECK(threads_for(1, 7).max == 1);
}

}  // namespace sptile::runtime
