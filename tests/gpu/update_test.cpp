// Prediction of updates, and refusals; the property runner tests the rest.

#include "runtime/choice/prediction.hpp"
#include "runtime/operation/spmm_update.hpp"
#include "tests/gpu/device_problem.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::kSpmmUpdate;

TEST_CASE("cuda update: both ways are predicted, with constants of their own or of what they are made of") {
  Random random(56);
  const formats::Csr a = random_matrix(500, 400, 0.1, DType::f32, random);
  const Formatted csr = format_matrix(a, "csr"), bittcf = format_matrix(a, "bittcf");
  const std::vector<runtime::PlanMatrix> matrices = {csr.matrix(), bittcf.matrix()};
  const runtime::PlanOptions options{.n = 64, .device = runtime::Device::cuda};
  const auto list = runtime::predict_product(kSpmmUpdate, matrices, options);
  REQUIRE_MESSAGE(list.has_value(), list.error().message);
  CHECK(list->size() == 3);
  for (const runtime::Candidate& candidate : *list) {
    CAPTURE(candidate.kernel->name);
    CHECK(candidate.refused.empty());
    REQUIRE(candidate.predicted_us);
    CHECK(*candidate.predicted_us > 1);
    CHECK(*candidate.predicted_us < 1000);
  }
}

TEST_CASE("cuda update: weights that do not fit are refused by name, and served in two launches") {
  Random random(55);
  const formats::Csr a = random_matrix(100, 100, 0.1, DType::f32, random);
  const Formatted formatted = format_matrix(a, "csr");
  runtime::PlanOptions options{.n = 1024, .device = runtime::Device::cuda};
  const auto plan = runtime::plan_product(kSpmmUpdate, formatted.matrix(), options);
  REQUIRE_MESSAGE(plan.has_value(), plan.error().message);
  CHECK(kernel_name(**plan) == "cuda.csr.update2");
  options.kernel = "cuda.csr.update";
  const auto refused = runtime::plan_product(kSpmmUpdate, formatted.matrix(), options);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == Errc::unsupported);
  CHECK(refused.error().message.find("bytes of shared memory") != std::string::npos);
}
