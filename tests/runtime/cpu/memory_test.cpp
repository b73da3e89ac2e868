// A run allocates nothing: this program replaces the allocation functions by counting ones.
#include <doctest/doctest.h>

#include <atomic>
#include <cerrno>

#include "runtime/operation/attention.hpp"
#include "runtime/operation/attention_gradient.hpp"
#include "runtime/operation/attention_gradient_t.hpp"
#include "runtime/operation/edge_attention.hpp"
#include "runtime/operation/gatv2.hpp"
#include "runtime/operation/gatv2_edges.hpp"
#include "runtime/operation/softmax_rows.hpp"
#include "runtime/plan/plan.hpp"
#include "tests/runtime/all_threads.hpp"
#include "tests/runtime/head_problem.hpp"

using namespace sptile;
using namespace sptile::test;

namespace {

const sptile::test::AllThreads kAllThreads;

std::atomic<long> allocations{0};

}  // namespace

// The C library's own functions, under the names that it keeps for replacements like these.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) noexcept {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) noexcept {
  ++allocations;
  return __libc_realloc(old, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) noexcept {
  ++allocations;
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}
}

TEST_CASE("spmm: the second run of a plan allocates nothing, in any format") {
  Random random(1);
  const formats::Csr a = random_matrix(400, 1500, 0.2, DType::f16, random);
  const Dense dense(a, 150, DType::f32, random);
  std::vector<std::byte> c = dense.c_bytes();
  for (const formats::Converter& converter : formats::converters()) {
    CAPTURE(converter.format);
    const Formatted formatted = format_matrix(a, converter.format);
    for (const int threads : {1, 2}) {
      const auto plan = runtime::plan_spmm(formatted.matrix(), {.n = 150, .threads = threads});
      REQUIRE(plan);
      REQUIRE(runtime::run(**plan, operands(dense, c.data())));  // workers start
      const long before = allocations;
      const Status status = runtime::run(**plan, operands(dense, c.data()));
      const long during = allocations - before;
      CHECK(status.has_value());
      CHECK(during == 0);
    }
  }
  CHECK(allocations > 0);  // the counters do count
}

TEST_CASE("attention: the second run of a plan allocates nothing, however long rows are") {
  Random random(2);
  const formats::Csr a = skewed_matrix(60, 3000, random);
  const Formatted formatted = format_matrix(a, "csr");
  for (const runtime::Operation* op :
       {&runtime::kSoftmaxRows, &runtime::kAttention, &runtime::kAttentionGradient,
        &runtime::kAttentionGradientT, &runtime::kGatv2, &runtime::kGatv2Gradient, &runtime::kGatv2GradientT,
        &runtime::kEdgeAttention, &runtime::kEdgeAttentionGradient, &runtime::kGatv2WithFeatures,
        &runtime::kGatv2WithFeaturesGradient, &runtime::kGatv2WithFeaturesGradientT,
        &runtime::kGatv2WithFeaturesWeights}) {
    CAPTURE(op->name);
    const std::int64_t m = op->name.starts_with("gatv2_edges") ? 16 : 300;
    HeadProblem p(*op, a, {.m = m, .score = runtime::Score::cosine}, 40, DType::f16, {2}, random);
    const auto plan = runtime::plan_product(
        *op, formatted.matrix(), {.n = p.n(), .dense = DType::f16, .threads = 2, .variant = p.variant()});
    REQUIRE(plan);
    REQUIRE(runtime::run(**plan, *op, p.operands()));
    const long before = allocations;
    const Status status = runtime::run(**plan, *op, p.operands());
    const long during = allocations - before;
    CHECK(status.has_value());
    CHECK(during == 0);
  }
}
