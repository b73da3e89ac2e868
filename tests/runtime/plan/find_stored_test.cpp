// Which stored plan is taken: needs the rows of kernels for CUDA, but no device.
#include <doctest/doctest.h>

#include "runtime/operation/attention.hpp"
#include "runtime/operation/sddmm.hpp"
#include "runtime/operation/spmm.hpp"
#include "runtime/plan/stored.hpp"
#include "tests/runtime/random_problem.hpp"

using namespace sptile;
using namespace sptile::test;
using namespace sptile::runtime;

namespace {

cuda::DeviceInfo device() {
  return {.capability = 90, .sm_count = 132, .l2_bytes = 50 << 20, .shared_per_block = 227 << 10};
}

PlanOptions options(std::string_view kernel = {}, std::int64_t n = 64) {
  return {.n = n, .device = Device::cuda, .kernel = kernel};
}

/// Plans of one matrix, in the order in which they were stored.
struct Plans {
  formats::Csr a;
  Formatted bittcf, csr;
  std::vector<PlanToStore> made;
  std::vector<StoredPlan> stored;

  Plans() {
    Random random(1);
    a = random_matrix(60, 50, 0.2, DType::f32, random);
    bittcf = format_matrix(a, "bittcf");
    csr = format_matrix(a, "csr");
  }
  void add(const Formatted& format, std::string_view kernel, std::int64_t n = 64,
           const Variant& variant = {}) {
    const formats::FormatView view = format.data.view();
    const auto choice =
        choose_kernel({&kSpmm, view.layout->name, DType::f32, view.cols}, options(kernel, n), device());
    REQUIRE(choice);
    PlanOptions requested = options(kernel, n);
    requested.variant = variant;
    auto plan = plan_to_store(kSpmm, format.matrix(), *choice, requested, device());
    REQUIRE(plan);
    made.push_back(std::move(*plan));
    stored.clear();
    for (const PlanToStore& one : made)
      stored.push_back({.name = "/plans", .key = one.key, .schedule = {one.numbers, one.schedule}});
  }
  [[nodiscard]] std::vector<PlanMatrix> matrices() const {
    std::vector<PlanMatrix> all = {csr.matrix(), bittcf.matrix()};
    for (PlanMatrix& matrix : all) matrix.stored = stored;
    return all;
  }
  [[nodiscard]] std::string_view found(const PlanOptions& requested,
                                       const cuda::DeviceInfo& on = device()) const {
    const auto match = find_stored(kSpmm, matrices(), requested, on);
    if (!match) return "none";
    CHECK(matrices()[match->matrix].format.layout->name == match->kernel.kernel->format);
    return match->kernel.kernel->name;
  }
};

}  // namespace

TEST_CASE("stored plans: every kernel that plans of spmm and sddmm choose by default has a store") {
  int kernels_with_instances = 0;
  for (const Kernel& kernel : kernels()) {
    if (kernel.by_name || (kernel.op != &kSpmm && kernel.op != &kSddmm)) continue;
    CAPTURE(kernel.name);
    for (const cuda::DeviceKernel& row : instances_of(kernel)) CHECK(row.store != nullptr);
    if (!instances_of(kernel).empty()) ++kernels_with_instances;
  }
  CHECK(kernels_with_instances > 20);
}

TEST_CASE("plans to store: one of a kernel without a store is refused with kernels that have one") {
  Random random(2);
  const formats::Csr a = random_matrix(60, 50, 0.2, DType::f32, random);
  const auto refusal = [&](const Operation& op, const char* format, std::string_view kernel) {
    const Formatted formatted = format_matrix(a, format);
    const PlanMatrix matrix = formatted.matrix();
    const auto choice = choose_kernel(multiplicand_of(op, matrix.format), options(kernel), device());
    REQUIRE(choice);
    const auto plan = plan_to_store(op, matrix, *choice, options(kernel), device());
    REQUIRE_FALSE(plan);
    CHECK(plan.error().code == Errc::unsupported);
    return plan.error().message;
  };
  CHECK(refusal(kSpmm, "libra_spmm", "cuda.libra_spmm.streams") ==
        "plan: plans of cuda.libra_spmm.streams cannot be stored; kernels whose plans can be stored: "
        "cuda.libra_spmm.mma");
  CHECK(refusal(kAttention, "csr", "") ==
        "plan: plans of cuda.csr.attention cannot be stored; programs plan attention when they run it");
}

TEST_CASE("find_stored: the newest plan that could be made is the one") {
  Plans plans;
  CHECK(plans.found(options()) == "none");
  plans.add(plans.csr, "cuda.csr.rows");
  CHECK(plans.found(options()) == "cuda.csr.rows");
  plans.add(plans.bittcf, "cuda.bittcf.mma");
  CHECK(plans.found(options()) == "cuda.bittcf.mma");
  CHECK(plans.found(options("cuda.csr.rows")) == "cuda.csr.rows");
  CHECK(plans.found(options("cuda.bittcf.staged")) == "none");
}

TEST_CASE("find_stored: what differs is not taken") {
  Plans plans;
  plans.add(plans.bittcf, "cuda.bittcf.mma");
  CHECK(plans.found(options()) == "cuda.bittcf.mma");
  CHECK(plans.found(options({}, 65)) == "none");
  PlanOptions refused = options();
  refused.stored = false;
  CHECK(plans.found(refused) == "none");
  PlanOptions exact = options();
  exact.precision = Precision::fp32;
  CHECK(plans.found(exact) == "none");
  PlanOptions strict = options();
  strict.nonfinite = NonFinite::strict;
  CHECK(plans.found(strict) == "none");
  cuda::DeviceInfo other = device();
  other.sm_count = 114;
  CHECK(plans.found(options(), other) == "none");
}

TEST_CASE("find_stored: plans of other attributes are others") {
  Plans plans;
  const Variant variants[] = {{.m = 17},
                              {.heads = 3},
                              {.activation = Activation::relu},
                              {.score = Score::cosine},
                              {.transposed_weights = true}};
  plans.add(plans.bittcf, "cuda.bittcf.mma");
  const auto requested = [](const Variant& variant) {
    PlanOptions all = options();
    all.variant = variant;
    return all;
  };
  for (const Variant& variant : variants) CHECK(plans.found(requested(variant)) == "none");
  for (const Variant& variant : variants) plans.add(plans.csr, "cuda.csr.rows", 64, variant);
  CHECK(plans.found(requested({})) == "cuda.bittcf.mma");
  for (const Variant& variant : variants) CHECK(plans.found(requested(variant)) == "cuda.csr.rows");
}
