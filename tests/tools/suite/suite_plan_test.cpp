#include "tools/suite/suite_plan.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "runtime/kernels/kernels.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/measure/bench_rows.hpp"
#include "tools/suite/core_rate_report.hpp"
#include "tools/suite/suite_report.hpp"

using namespace sptile;
using namespace sptile::tools;

namespace {

/// Returns times by format and kernel instead of measuring.
class FakeDevice final : public ProductBench {
 public:
  explicit FakeDevice(std::vector<std::string>& measured) : measured_(measured) {}

  [[nodiscard]] runtime::Device kind() const override { return runtime::Device::cuda; }
  Status set_matrix(const formats::CsrView& source, const runtime::DenseTypes& dense) override {
    values_ = source.is_pattern() ? "pattern" : std::string(name_of(source.values.dtype));
    dense_ = dense;
    return {};
  }
  Status set_operands(const runtime::Operation& op, std::int64_t n) override {
    op_ = &op;
    n_ = n;
    return {};
  }
  Result<Measurement> measure(const runtime::PlanMatrix& a, const KernelRequest& request) override {
    static const std::map<std::string, double> times = {
        {"cuda.bittcf.acc_pipeline", 10}, {"cuda.bittcf.acc_dtc_pipeline", 20}, {"", 5}};
    const std::string kernel(request.kernel), format(a.format.layout->name);
    measured_.push_back(format + " " + kernel + " " + std::to_string(n_) + " " + values_);
    const auto known = times.find(kernel);
    return result(format, kernel.empty() ? "chosen." + format : kernel,
                  known == times.end() ? 40 : known->second);
  }
  [[nodiscard]] std::vector<std::string_view> yardsticks(const runtime::Operation&,
                                                         std::int64_t /*n*/) const override {
    return {"cusparse.default"};
  }
  Result<Measurement> measure_yardstick(std::string_view kernel) override {
    return result("csr", std::string(kernel), 30);
  }

 private:
  [[nodiscard]] Measurement result(const std::string& format, const std::string& kernel, double us) const {
    Measurement m;
    m.device = "cuda";
    m.op = op_;
    m.format = format;
    m.kernel = kernel;
    m.value_dtype = values_;
    m.dtype = name_of(dense_.operands);
    m.result = name_of(dense_.result);
    m.precision = "tf32";
    m.n = n_;
    m.median_us = m.min_us = us;
    return m;
  }

  std::vector<std::string>& measured_;
  std::string values_;
  runtime::DenseTypes dense_;
  const runtime::Operation* op_ = nullptr;
  std::int64_t n_ = 0;
};

bool everything(const runtime::Kernel&) { return true; }

struct Run {
  TemporaryFolder folder;
  Session session;
  SuiteRequest request;
  std::vector<std::string> measured;
  Json rows = Json::array();
  std::int64_t resumed = 0;

  Run(const std::string& suite, std::vector<std::string> experiments, const std::string& field = "real") {
    const std::string end = field == "pattern" ? "" : " 2";
    std::ofstream(folder / "a.mtx") << "%%MatrixMarket matrix coordinate " << field << " general\n3 3 2\n1 1"
                                    << end << "\n2 3" << end << "\n";
    request.suite = suite;
    request.experiments = std::move(experiments);
    request.inputs = {folder / "a.mtx"};
    request.formats = "csr";
    request.on_device = true;
    session.common.quiet = true;
  }

  SuitePlan run(const KernelFilter& available = everything) {
    auto plan = plan_suite(request, available);
    REQUIRE(plan.has_value());
    measured.clear();
    rows = Json::array();
    resumed = 0;
    for (const BenchTask& task : tasks_of(*plan, request)) {
      Benchmark benchmark(session, task, *CsvLog::open(folder / "log.csv", suite_columns()),
                          std::make_unique<FakeDevice>(measured));
      REQUIRE(benchmark.run().has_value());
      for (const Json& row : benchmark.rows()) rows.push_back(row);
      resumed += benchmark.resumed();
    }
    return std::move(*plan);
  }
};

const Json& line_of(const Json& summary, std::string_view variant, const Json& n) {
  for (const Json& line : summary.front()["lines"])
    if (line["variant"] == variant && line["n"] == n) return line;
  FAIL("no line of " << variant);
  return summary;
}

}  // namespace

TEST_CASE(
    "each variant of the suites names a kernel of the build, or an ablation, for its format and operation") {
  for (const Suite& suite : suites())
    for (const Experiment& experiment : suite.experiments)
      for (const Variant& variant : experiment.variants) {
        INFO(suite.name, " ", experiment.name, " ", variant.kernel);
        const auto kernels = runtime::kernels();
        const auto kernel = std::ranges::find(kernels, variant.kernel, &runtime::Kernel::name);
        if (kernel == kernels.end()) {
          CHECK(variant.ablation);
          continue;
        }
        const std::string_view format = variant.format.substr(0, variant.format.find(':'));
        CHECK(kernel->format == format);
        CHECK(kernel->op->name == experiment.op);
      }
}

TEST_CASE(
    "the tables of the suites are consistent: names are unique, baselines are variants, all names resolve") {
  for (const Suite& suite : suites()) {
    std::set<std::string_view> names;
    for (const Experiment& experiment : suite.experiments) {
      INFO(suite.name, " ", experiment.name);
      CHECK(names.insert(experiment.name).second);
      CHECK_FALSE(experiment.columns.empty());
      std::set<std::string_view> variants;
      for (const Variant& variant : experiment.variants) CHECK(variants.insert(variant.name).second);
      CHECK((experiment.baseline == kCusparse || variants.count(experiment.baseline) == 1));
    }
    SuiteRequest request;
    request.suite = suite.name;
    request.on_device = true;
    const auto plan = plan_suite(request, everything);
    REQUIRE(plan.has_value());
    CHECK(plan->experiments.size() == suite.experiments.size());
    for (const Structure& structure : suite.structures) {
      INFO(structure.name);
      CHECK(names.insert(structure.name).second);
      for (const std::string_view format : structure.formats) CHECK(parse_formats(format).has_value());
      for (const std::string_view order : structure.orders)
        CHECK(parse_order(order, structure.window_rows).has_value());
    }
  }
}

TEST_CASE("a suite measures each kernel once for all of its experiments, with the N of each experiment") {
  Run run("acc", {"fig7", "fig13"});
  const SuitePlan plan = run.run();
  const auto count = [&](const std::string& what) { return std::ranges::count(run.measured, what); };
  for (const char* n : {"128", "256", "512"}) {
    CHECK(count(std::string("bittcf cuda.bittcf.acc_pipeline ") + n + " f32") == 1);
    CHECK(count(std::string("bittcf cuda.bittcf.acc_dtc_pipeline ") + n + " f32") == 1);
  }
  for (const Json& row : run.rows) {
    CHECK(row["suite"] == "acc");
    if (row["kernel"] == "cuda.bittcf.acc_pipeline") CHECK(row["experiment"] == "fig7 fig13");
    if (row["kernel"] == "cuda.bittcf.acc_dtc_pipeline") CHECK(row["experiment"] == "fig13");
  }
}

TEST_CASE(
    "the summary has geometric means over the baseline, the fastest other variant and the fastest known") {
  Run run("acc", {"fig13"});
  run.request.columns = {64, 128};
  const SuitePlan plan = run.run();
  const Json summary = summarize(plan, run.rows);
  REQUIRE(summary.size() == 1);
  for (const Json& n : {Json(64), Json(128), Json(nullptr)}) {
    const Json& line = line_of(summary, "Acc pipeline", n);
    CHECK(line["matrices"] == (n.is_null() ? 2 : 1));
    CHECK(line["over_baseline"].get<double>() == doctest::Approx(2));
    CHECK(line["over_other"].get<double>() == doctest::Approx(2));
    CHECK(line["over_known"].get<double>() == doctest::Approx(0.5));
    CHECK(line["fastest"] == line["matrices"]);
    CHECK(line_of(summary, "DTC pipeline", n)["over_other"].get<double>() == doctest::Approx(0.5));
    CHECK(line_of(summary, kFastestKnown, n)["over_baseline"].get<double>() == doctest::Approx(4));
  }
  const std::string text = summary_text(summary);
  CHECK(text.find("acc fig13: figure 13: pipelines") != std::string::npos);
}

TEST_CASE("cuSPARSE is the baseline of experiments whose figure has it") {
  Run run("acc", {"fig7"});
  run.request.columns = {128};
  const Json summary = summarize(run.run(), run.rows);
  CHECK(line_of(summary, "Acc-SpMM", 128)["kernel"] == "cuda.bittcf.acc_pipeline");
  CHECK(line_of(summary, "Acc-SpMM", 128)["reorder"] == "affinity");
  CHECK(line_of(summary, kCusparse, 128)["kernel"].is_null());
  CHECK(line_of(summary, "Acc-SpMM", 128)["over_baseline"].get<double>() == doctest::Approx(3));
  CHECK(line_of(summary, kCusparse, 128)["over_baseline"].get<double>() == doctest::Approx(1));
}

TEST_CASE("patterns have random values in experiments with kernels that have no instance for patterns only") {
  Run real("acc", {"fig7", "fig13"}), pattern("acc", {"fig7", "fig13"}, "pattern");
  const SuitePlan plan = pattern.run();
  REQUIRE(plan.experiments.size() == 2);
  for (const SuiteExperiment& one : plan.experiments) {
    const std::string wanted = one.needs_values ? "random" : "file";
    std::size_t rows = 0;
    for (const Json& row : pattern.rows) {
      const auto names = " " + row["experiment"].get<std::string>() + " ";
      if (names.find(" " + std::string(one.experiment->name) + " ") == std::string::npos) continue;
      CHECK(row["values"] == wanted);
      ++rows;
    }
    CHECK(rows > 0);
  }
  real.run();
  CHECK(real.resumed == 0);
  for (const Json& row : real.rows) CHECK(row["values"] == "file");
}

TEST_CASE("kernels and devices that are missing are listed with their experiments") {
  Run run("rsh", {});
  const auto plan =
      plan_suite(run.request, [](const runtime::Kernel& k) { return k.name != "cuda.rs_tile.mma"; });
  REQUIRE(plan.has_value());
  const auto missing = std::ranges::find(plan->missing, "cuda.rs_tile.mma", &Missing::name);
  REQUIRE(missing != plan->missing.end());
  CHECK(missing->experiments == std::vector<std::string>{"fig10", "fig10_tf32"});
  run.request.on_device = false;
  const auto no_device = plan_suite(run.request, everything);
  REQUIRE(no_device.has_value());
  CHECK(no_device->experiments.empty());
  REQUIRE(no_device->missing.size() == 1);
  CHECK(no_device->missing.front().experiments.size() == plan->suite->experiments.size());
  CHECK(no_device->structures.size() == plan->suite->structures.size());
  run.request.experiments = {"fig99"};
  CHECK(plan_suite(run.request, everything).error().code == Errc::usage);
}

TEST_CASE("the rates of both kinds of cores need a device, and no matrix") {
  SuiteRequest request;
  request.suite = "libra";
  request.experiments = {"fig4"};
  request.on_device = true;
  const auto plan = plan_suite(request, everything);
  REQUIRE(plan.has_value());
  CHECK(plan->core_rates);
  CHECK_FALSE(plan->needs_matrices);
  request.on_device = false;
  CHECK_FALSE(plan_suite(request, everything)->core_rates);
  CHECK(plan_suite(request, everything)->missing.front().experiments == std::vector<std::string>{"fig4"});
}

TEST_CASE("rates count the operations that each mode does, and theory is the slower kind alone") {
  const CoreRate rate{.ratio = 5,
                      .tensor_us = 100,
                      .cuda_us = 500,
                      .sequential_us = 600,
                      .concurrent_us = 550,
                      .tensor_flops = 4e10,
                      .cuda_flops = 1e10};
  const Json rates = to_json(std::span(&rate, 1));
  const auto tflops = [&](const char* mode) {
    for (const Json& one : rates)
      if (one["mode"] == mode) return one["tflops"].get<double>();
    return 0.0;
  };
  CHECK(tflops("tensor cores only") == doctest::Approx(400));
  CHECK(tflops("CUDA cores only") == doctest::Approx(20));
  CHECK(tflops("theoretical") == doctest::Approx(100));
  CHECK(tflops("sequential") < tflops("concurrent"));
}

TEST_CASE("rows of a suite are reused, also for a selection of its experiments") {
  Run run("acc", {"fig7", "fig13"});
  run.request.columns = {128};
  run.run();
  const std::size_t all = run.rows.size();
  run.run();
  CHECK(run.measured.empty());
  CHECK(run.resumed == static_cast<std::int64_t>(all));
  run.request.experiments = {"fig13"};
  run.run();
  CHECK(run.measured.empty());
  CHECK(run.rows.size() < all);
  for (const Json& row : run.rows) CHECK(row["experiment"] == "fig13");
}
