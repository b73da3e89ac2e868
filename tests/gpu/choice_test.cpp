// Plans on a device that choose their format.
#include <stdlib.h>

#include "formats/layout/registry.hpp"
#include "runtime/choice/choice.hpp"
#include "tests/gpu/device_problem.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::Candidate;

TEST_CASE(
    "cuda choice: every format with a kernel is a candidate, the fastest predicted is planned, precisions "
    "are kept") {
  ::unsetenv("SPTILE_PROFILE");
  Random random(21);
  const formats::Csr a = random_matrix(500, 400, 0.1, DType::f32, random);
  std::vector<Formatted> formatted;
  for (const formats::FormatLayout* layout : formats::layouts())
    if (runtime::find_kernel("spmm", layout->name, runtime::Device::cuda) != nullptr)
      formatted.push_back(format_matrix(a, layout->name));
  std::vector<runtime::PlanMatrix> matrices;
  for (const Formatted& one : formatted) matrices.push_back(one.matrix());

  runtime::PlanOptions options{.n = 96, .device = runtime::Device::cuda};
  const auto list = runtime::predict_spmm(matrices, options);
  REQUIRE_MESSAGE(list.has_value(), list.error().text());
  CHECK(list->size() >= matrices.size());
  const Candidate* const best = runtime::chosen_of(*list);
  REQUIRE(best != nullptr);
  REQUIRE(best->predicted_us);
  for (const Candidate& candidate : *list) {
    CAPTURE(candidate.format);
    CHECK(candidate.refused.empty());
    if (candidate.predicted_us) CHECK(*candidate.predicted_us >= *best->predicted_us);
  }
  const auto plan = runtime::plan_spmm(matrices, options);
  REQUIRE_MESSAGE(plan.has_value(), plan.error().text());
  CHECK(runtime::kernel_name(**plan) == best->kernel->name);
  CHECK(runtime::precision_of(**plan) == best->precision);

  options.precision = runtime::Precision::fp32;
  const auto exact = runtime::predict_spmm(matrices, options);
  REQUIRE(exact.has_value());
  for (const Candidate& candidate : *exact)
    if (candidate.refused.empty()) CHECK(candidate.precision == runtime::Precision::fp32);
}
