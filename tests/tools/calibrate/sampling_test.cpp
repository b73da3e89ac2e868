// What is measured, and in which order, on a device that is none.
#include "tools/calibrate/sampling.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "runtime/kernels/kernels.hpp"
#include "runtime/operation/sddmm.hpp"
#include "runtime/operation/spmm.hpp"
#include "tests/runtime/random_problem.hpp"
#include "tools/measure/operations.hpp"

using namespace sptile;
using namespace sptile::tools;

namespace {

/// Knows how long everything takes, and checks what it is asked.
class FakeBench final : public ProductBench {
 public:
  [[nodiscard]] runtime::Device kind() const override { return runtime::Device::cpu; }

  Status set_matrix(const formats::CsrView& source, const runtime::DenseTypes& dense) override {
    CHECK(source.values.dtype == dense.operands);
    CHECK(dense.result == dense.operands);
    dense_ = dense.operands;
    op_ = nullptr;
    return {};
  }
  Status set_operands(const runtime::Operation& op, std::int64_t n) override {
    op_ = &op;
    n_ = n;
    return {};
  }
  Result<Measurement> measure(const runtime::PlanMatrix& a, const KernelRequest& request) override {
    const std::string kernel(request.kernel);
    REQUIRE(op_ != nullptr);
    CHECK_FALSE(kernel.empty());
    CHECK_FALSE(lacking.contains({kernel, dense_}));
    // Lists of entries stand in the format's order.
    if (lists_entries(*op_) && a.format.layout->name != "csr") CHECK(a.value_source.size == a.format.nnz);
    ++asked[kernel];
    Measurement measured;
    measured.kernel = kernel;
    measured.precision = "fp32";
    measured.n = n_;
    measured.median_us = 5;
    measured.checked = true;
    measured.rel_err = wrong == kernel ? 1 : 0;
    return measured;
  }

  [[nodiscard]] bool supports(const runtime::Multiplicand& a, std::string_view kernel) const override {
    const auto kernels = runtime::kernels();
    const auto named = std::ranges::find(kernels, kernel, &runtime::Kernel::name);
    return named != kernels.end() && named->op == a.op && named->format == a.format &&
           !lacking.contains({std::string(kernel), a.values});
  }

  std::map<std::string, int> asked;
  std::string wrong;
  std::set<std::pair<std::string, DType>> lacking;  ///< instances that do not exist

 private:
  DType dense_ = DType::none;
  const runtime::Operation* op_ = nullptr;
  std::int64_t n_ = 0;
};

struct Setting {
  test::Random random{3};
  formats::Csr a = test::random_matrix(60, 50, 0.2, DType::f32, random);
  FakeBench bench;
  Session session;
  SamplingPlan plan;
  Measurements found;

  Setting() {
    plan.bench = &bench;
    plan.operations = {&runtime::kSpmm, &runtime::kSddmm};
    plan.libra_ratios = [](const Measurement& m) -> runtime::cuda::LibraRatios {
      return {2, m.n == 8 ? 0.0 : 3.0};
    };
    plan.columns = {8, 16};
  }
  Status sample() { return sample_matrix(session, "m", a.view(), plan, found); }
};

}  // namespace

TEST_CASE("sampling: both operations of every format, each once") {
  Setting s;
  REQUIRE(s.sample().has_value());
  const std::size_t formats = formats::converters().size();
  CHECK(s.found.samples.size() == 2 * 2 * formats);
  CHECK(s.bench.asked.size() == 2 * formats);
  std::map<std::string, std::set<std::string>> operations;
  for (const Sample& sample : s.found.samples) {
    operations[sample.kernel].insert(sample.op);
    CHECK(sample.us == 5);
    CHECK(sample.features[1] > 0);
  }
  for (const auto& [kernel, of_kernel] : operations) CHECK(of_kernel.size() == 1);
  CHECK(s.found.thresholds.empty());
}

TEST_CASE("sampling: only the kernels and operations that are named") {
  Setting s;
  const auto* const kernel = runtime::find_kernel(runtime::kSddmm, "bmat", runtime::Device::cpu);
  s.plan.kernels = {std::string(kernel->name)};
  s.plan.thresholds = true;
  REQUIRE(s.sample().has_value());
  CHECK(s.bench.asked == std::map<std::string, int>{{std::string(kernel->name), 2}});
  s.plan.kernels = {};
  s.plan.operations = {&runtime::kSpmm};
  s.plan.thresholds = false;
  s.bench.asked.clear();
  REQUIRE(s.sample().has_value());
  CHECK(s.bench.asked.size() == formats::converters().size());
}

TEST_CASE("sampling: the formats of Libra with each threshold") {
  Setting s;
  s.plan.thresholds = true;
  REQUIRE(s.sample().has_value());
  std::map<std::string, std::set<int>> thresholds;
  for (const ThresholdSample& sample : s.found.thresholds) thresholds[sample.kernel].insert(sample.threshold);
  CHECK(thresholds.at("cuda.libra_spmm.mma").size() == 9);
  CHECK(thresholds.at("cuda.libra_sddmm.sddmm").size() == 8);
  CHECK(s.found.thresholds.size() == 2 * 17);
  // The modes of Libra's balance are for those who name them.
  CHECK(s.bench.asked.count("cuda.libra_spmm.sequential") == 0);
  CHECK(s.found.occupancy.empty());
}

TEST_CASE("sampling: thresholds of types that a kernel has no instance for are not measured") {
  Setting s;
  s.plan.thresholds = true;
  s.plan.more = {DType::f16, DType::f64};
  s.bench.lacking = {{"cuda.libra_sddmm.sddmm", DType::f64}};
  REQUIRE(s.sample().has_value());
  std::map<std::string, std::size_t> measured;
  for (const ThresholdSample& sample : s.found.thresholds) ++measured[sample.kernel];
  CHECK(measured.at("cuda.libra_spmm.mma") == 3 * 2 * 9);  // types, N, thresholds
  CHECK(measured.at("cuda.libra_sddmm.sddmm") == 2 * 2 * 8);
}

TEST_CASE("sampling: the modes of Libra's balance, named, where both parts have work") {
  Setting s;
  s.plan.thresholds = true;
  s.plan.more = {DType::f16};
  s.plan.kernels = {"cuda.libra_spmm.streams_fitted"};
  s.bench.lacking = {{"cuda.libra_spmm.sequential", DType::f16}};
  REQUIRE(s.sample().has_value());
  CHECK(s.bench.asked ==
        std::map<std::string, int>{{"cuda.libra_spmm.concurrent", 2}, {"cuda.libra_spmm.sequential", 2}});
  REQUIRE(s.found.occupancy.size() == 1);
  CHECK(s.found.occupancy[0].rows_ratio == 3);
}

TEST_CASE("sampling: half precision; a wrong result ends it") {
  Setting s;
  s.plan.more = {DType::f16};
  s.plan.operations = {&runtime::kSddmm};
  s.bench.wrong = runtime::find_kernel(runtime::kSddmm, "csr", runtime::Device::cpu)->name;
  const Status status = s.sample();
  REQUIRE_FALSE(status.has_value());
  CHECK(status.error().code == Errc::check_failed);
  CHECK(status.error().text().find(s.bench.wrong) != std::string::npos);
}
