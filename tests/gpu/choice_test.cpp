// Plans on a device that choose their format.
#include <stdlib.h>

#include "formats/layout/registry.hpp"
#include "runtime/operation/sddmm.hpp"
#include "runtime/plan/choice.hpp"
#include "tests/gpu/device_problem.hpp"
#include "tests/profile_file.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::Candidate;

namespace {

/// A matrix in every format that has a kernel for an operation.
struct Problem {
  Random random{21};
  formats::Csr a = random_matrix(500, 400, 0.1, DType::f32, random);
  std::vector<Formatted> formatted;
  std::vector<runtime::PlanMatrix> matrices;

  explicit Problem(const runtime::Operation& op) {
    for (const formats::FormatLayout* layout : formats::layouts())
      if (runtime::find_kernel(op, layout->name, runtime::Device::cuda) != nullptr)
        formatted.push_back(format_matrix(a, layout->name));
    for (const Formatted& one : formatted) matrices.push_back(one.matrix());
  }
};

/// Only kernels that support other numbers of columns are refused.
bool says_what_it_supports(const Candidate& candidate) {
  return candidate.refused.empty() || candidate.refused.find(" supports ") != std::string::npos;
}

}  // namespace

TEST_CASE(
    "cuda choice: every format with a kernel is a candidate, the fastest predicted is planned, precisions "
    "are kept") {
  ::unsetenv("SPTILE_PROFILE");
  const Problem problem(runtime::kSpmm);
  const std::vector<runtime::PlanMatrix>& matrices = problem.matrices;

  runtime::PlanOptions options{.n = 96, .device = runtime::Device::cuda};
  const auto list = runtime::predict_product(runtime::kSpmm, matrices, options);
  REQUIRE_MESSAGE(list.has_value(), list.error().text());
  CHECK(list->size() >= matrices.size());
  const Candidate* const best = runtime::chosen_of(*list);
  REQUIRE(best != nullptr);
  REQUIRE(best->predicted_us);
  for (const Candidate& candidate : *list) {
    CAPTURE(candidate.format);
    CHECK_MESSAGE(says_what_it_supports(candidate), candidate.refused);
    if (candidate.predicted_us) CHECK(*candidate.predicted_us >= *best->predicted_us);
  }
  const auto plan = runtime::plan_product(runtime::kSpmm, matrices, options);
  REQUIRE_MESSAGE(plan.has_value(), plan.error().text());
  CHECK(runtime::kernel_name(**plan) == best->kernel->name);
  CHECK(runtime::precision_of(**plan) == best->precision);

  options.precision = runtime::Precision::fp32;
  const auto exact = runtime::predict_product(runtime::kSpmm, matrices, options);
  REQUIRE(exact.has_value());
  for (const Candidate& candidate : *exact)
    if (candidate.refused.empty()) CHECK(candidate.precision == runtime::Precision::fp32);
}

TEST_CASE("cuda choice: kernels by name are candidates if the profile has their times") {
  Random random(22);
  const formats::Csr a = random_matrix(500, 400, 0.1, DType::f32, random);
  const Formatted rs_tile = format_matrix(a, "rs_tile");
  const std::vector<runtime::PlanMatrix> matrices = {rs_tile.matrix()};
  const runtime::PlanOptions options{
      .n = 96, .device = runtime::Device::cuda, .precision = runtime::Precision::tf32};
  const auto planned = [&](const std::string& numbers) {
    const ProfileFile profile(numbers);
    const auto plan = runtime::plan_product(runtime::kSpmm, matrices, options);
    REQUIRE_MESSAGE(plan.has_value(), plan.error().text());
    return runtime::kernel_name(**plan);
  };
  const std::string slow = "number cuda.rs_tile.mma tf32 launch 9\n";
  CHECK(planned(slow) == "cuda.rs_tile.mma");
  CHECK(planned(slow + "number cuda.rs_tile.staged tf32 launch 5\n") == "cuda.rs_tile.staged");
  CHECK(planned(slow + "number cuda.rs_tile.staged fp32 launch 5\n") == "cuda.rs_tile.mma");
}

TEST_CASE("cuda choice: measured, for both operations; no room for the operands") {
  ::unsetenv("SPTILE_PROFILE");
  for (const runtime::Operation* op : {&runtime::kSpmm, &runtime::kSddmm}) {
    CAPTURE(op->name);
    const Problem problem(*op);
    if (problem.matrices.size() < 2) continue;  // nothing to choose
    runtime::PlanOptions options{
        .n = 96, .device = runtime::Device::cuda, .choice = runtime::Choice::measured};
    const auto chosen = runtime::choose_plan(*op, problem.matrices, options);
    REQUIRE_MESSAGE(chosen.has_value(), chosen.error().text());
    const Candidate* const best = runtime::chosen_of(chosen->candidates);
    REQUIRE(best != nullptr);
    REQUIRE(best->measured_us);
    CHECK(runtime::kernel_name(*chosen->plan) == best->kernel->name);
    int measured = 0;
    for (const Candidate& candidate : chosen->candidates) {
      CAPTURE(candidate.format);
      CHECK_MESSAGE(says_what_it_supports(candidate), candidate.refused);
      if (!candidate.measured_us) continue;
      ++measured;
      CHECK(*candidate.measured_us >= *best->measured_us);
      CHECK(*candidate.measured_us < 1e5);
    }
    CHECK(measured > 1);
    options.n = std::int64_t{1} << 40;
    options.variant.m = 8;
    const auto too_large = runtime::plan_product(*op, problem.matrices, options);
    REQUIRE_FALSE(too_large.has_value());
    CHECK(too_large.error().code == Errc::device);
    CHECK(too_large.error().message.find("operands of a measurement") != std::string::npos);
  }
}
