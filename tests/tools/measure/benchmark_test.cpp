#include "tools/measure/benchmark.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "runtime/operation/sddmm.hpp"
#include "runtime/operation/spmm.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/measure/bench_rows.hpp"
#include "tools/measure/operations.hpp"

using namespace sptile;
using namespace sptile::tools;

namespace {

// A device that is none: knows how long everything takes, and what it was asked.
class FakeDevice final : public ProductBench {
 public:
  explicit FakeDevice(std::vector<std::string>& asked) : asked_(asked) {}

  [[nodiscard]] runtime::Device kind() const override { return runtime::Device::cuda; }
  Status set_matrix(const formats::CsrView& source, const runtime::DenseTypes& dense) override {
    values_ = name_of(source.values.dtype);
    dense_ = name_of(dense.operands);
    op_ = nullptr;
    return {};
  }
  Status set_operands(const runtime::Operation& op, std::int64_t n) override {
    op_ = &op;
    n_ = n;
    return {};
  }
  Result<Measurement> measure(const runtime::PlanMatrix& a, const KernelRequest& request) override {
    const std::string format(a.format.layout->name);
    if (format == "csr" && request.precision == runtime::Precision::tf32)
      return fail(Errc::unsupported, "csr forms fp32 products");
    if (lists_entries(*op_)) CHECK(a.value_source.size == a.format.nnz);
    asked_.push_back(format + " " + std::string(request.precision ? name_of(*request.precision) : "") + " " +
                     operands() + (a.row_order.empty() ? "" : " ordered"));
    return result(format, "fake." + format, 20);
  }
  [[nodiscard]] std::vector<std::string_view> yardsticks(const runtime::Operation&,
                                                         std::int64_t /*n*/) const override {
    return {"cusparse.default", "cusparse.alg2", "cusparse.alg3"};
  }
  Result<Measurement> measure_yardstick(std::string_view kernel) override {
    asked_.push_back(std::string(kernel) + " " + operands());
    if (kernel == "cusparse.alg3") return fail(Errc::unsupported, "not for these types");
    return result("csr", std::string(kernel), kernel == "cusparse.alg2" ? 30 : 50);
  }

 private:
  [[nodiscard]] std::string operands() const { return values_ + " x " + dense_ + " " + std::to_string(n_); }
  [[nodiscard]] Measurement result(const std::string& format, const std::string& kernel, double us) const {
    Measurement m;
    m.device = "cuda";
    m.op = op_;
    m.format = format;
    m.kernel = kernel;
    m.value_dtype = values_;
    m.dtype = m.result = dense_;
    m.precision = "fp32";
    m.n = n_;
    m.median_us = us;
    m.memory = MemoryUse{.roofline = {.hbm_ratio = 0.5}};
    return m;
  }

  std::vector<std::string>& asked_;
  std::string values_, dense_;
  const runtime::Operation* op_ = nullptr;
  std::int64_t n_ = 0;
};

std::vector<Ordering> two_orders() {
  OrderRequest request;
  request.method = "identity,degree";
  return *resolve_orders(request);
}

struct Bench {
  TemporaryFolder folder;
  BenchTask task;
  Session session;
  std::vector<std::string> asked;
  Json rows;
  std::int64_t resumed = 0;
  std::size_t observed = 0;

  Bench() {
    std::ofstream(folder / "a.mtx")
        << "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 1.5\n2 3 2\n3 1 3\n3 2 1\n";
    task.inputs = {folder / "a.mtx"};
    task.formats = *parse_formats("csr,tall:16");
    task.orderings = *resolve_orders(OrderRequest());
    task.precisions = *parse_precisions("fp32,tf32,fp16", "", "");
    task.columns = {8, 16};
    task.op = &runtime::kSpmm;
    task.device = runtime::Device::cuda;
    task.observe = [this](const Json&) { ++observed; };
    session.common.quiet = true;
  }

  Status run() {
    asked.clear();
    observed = 0;
    Benchmark benchmark(session, task, *CsvLog::open(folder / "log.csv", bench_columns()),
                        std::make_unique<FakeDevice>(asked));
    Status status = benchmark.run();
    rows = benchmark.rows();
    resumed = benchmark.resumed();
    return status ? benchmark.outcome() : status;
  }
};

}  // namespace

TEST_CASE("cuSPARSE comes first, once for each types and N, and what no kernel has is left out") {
  Bench bench;
  REQUIRE(bench.run().has_value());
  const std::vector<std::string> first(bench.asked.begin(), bench.asked.begin() + 6);
  CHECK(first == std::vector<std::string>{"cusparse.default f32 x f32 8", "cusparse.alg2 f32 x f32 8",
                                          "cusparse.alg3 f32 x f32 8", "csr fp32 f32 x f32 8",
                                          "tall fp32 f32 x f32 8", "tall tf32 f32 x f32 8"});
  CHECK(bench.asked.size() == 2 * (6 + 3 + 2));
  CHECK(bench.rows.size() == 2 * (2 + 3 + 2 + 2));
  for (const Json& row : bench.rows) {
    CHECK(row["hbm_ratio"] == 0.5);
    CHECK(row["predicted_us"].is_null());
    if (is_cusparse(row))
      CHECK(row["over_cusparse"].is_null());
    else
      CHECK(row["over_cusparse"] == 1.5);  // of its fastest algorithm
    if (!is_cusparse(row)) CHECK((row["format"] == "csr" || row["format"] == "tall:16"));
  }
}

TEST_CASE("what was measured is not measured again, and still compares") {
  Bench bench;
  bench.task.columns = {8};
  REQUIRE(bench.run().has_value());
  const Json before = bench.rows;
  REQUIRE(bench.run().has_value());
  CHECK((bench.rows == before));
  CHECK(bench.resumed == static_cast<std::int64_t>(before.size()));
  // cuSPARSE refused one algorithm: that is tried again, nothing else.
  CHECK(bench.asked == std::vector<std::string>{"cusparse.alg3 f32 x f32 8", "cusparse.alg3 f16 x f16 8"});
  bench.task.formats = *parse_formats("bmat");
  REQUIRE(bench.run().has_value());
  CHECK(bench.rows.back()["format"] == "bmat");
  CHECK(bench.rows.back()["over_cusparse"] == 1.5);
}

TEST_CASE("an SDDMM is told where its numbers belong, and its rows stand beside those of SpMM") {
  Bench bench;
  bench.task.columns = {8};
  bench.task.orderings = two_orders();
  REQUIRE(bench.run().has_value());
  bench.task.op = &runtime::kSddmm;
  REQUIRE(bench.run().has_value());
  CHECK(bench.resumed == 0);
  for (const Json& row : bench.rows) CHECK(row["op"] == runtime::kSddmm.name);
  CHECK(bench.rows.back()["over_cusparse"] == 1.5);
}

TEST_CASE("with several orderings cuSPARSE is measured once, and without it nothing compares") {
  Bench bench;
  bench.task.columns = {8};
  bench.task.precisions = *parse_precisions("", "", "");
  bench.task.orderings = two_orders();
  REQUIRE(bench.run().has_value());
  CHECK(bench.asked.size() == 3 + 2 + 2);
  CHECK(bench.asked.back() == "tall  f32 x f32 8 ordered");
  CHECK(bench.rows.back()["reorder"] == "degree");
  CHECK(bench.rows.back()["over_cusparse"] == 1.5);
  Bench alone;
  alone.task.cusparse = false;
  REQUIRE(alone.run().has_value());
  for (const Json& row : alone.rows) CHECK(row["over_cusparse"].is_null());
}

TEST_CASE("when nothing is left the reason is given") {
  Bench bench;
  bench.task.formats = *parse_formats("csr");
  bench.task.precisions = *parse_precisions("tf32", "", "");
  bench.task.cusparse = false;
  const Status status = bench.run();
  REQUIRE_FALSE(status.has_value());
  CHECK(status.error().code == Errc::unsupported);
  CHECK(status.error().message == "csr forms fp32 products");
}

TEST_CASE("a matrix is known by its contents: another of the same name and shape is measured") {
  Bench bench;
  bench.task.columns = {8};
  bench.task.cusparse = false;
  REQUIRE(bench.run().has_value());
  const auto rows = static_cast<std::int64_t>(bench.rows.size());
  std::filesystem::copy(bench.folder / "a.mtx", bench.folder / "b.mtx");
  bench.task.inputs = {bench.folder / "b.mtx"};
  REQUIRE(bench.run().has_value());
  CHECK(bench.resumed == rows);
  for (const Json& row : bench.rows) CHECK(row["matrix"] == "b.mtx");
  for (const char* entries : {"1 1 1.5\n2 3 2\n3 1 3\n3 2 1.25\n", "1 1 1.5\n2 2 2\n3 1 3\n3 2 1\n"}) {
    std::ofstream(bench.folder / "b.mtx") << "%%MatrixMarket matrix coordinate real general\n3 3 4\n"
                                          << entries;
    REQUIRE(bench.run().has_value());
    CHECK(bench.resumed == 0);
  }
}

TEST_CASE("a matrix that cannot be read costs the others nothing") {
  Bench bench;
  bench.task.columns = {8};
  const std::string good = bench.task.inputs.front();
  std::ofstream(bench.folder / "torn.mtx") << "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 1\n";
  bench.task.inputs = {bench.folder / "torn.mtx", good, bench.folder / "absent.mtx", good};
  const Status status = bench.run();
  REQUIRE_FALSE(status.has_value());
  CHECK(status.error().code == Errc::io);  // the absent one is seen before the torn one is read
  CHECK(status.error().message.starts_with("2 of 4 matrices were not measured"));
  CHECK(bench.rows.size() == 2 * (2 + 3 + 2 + 2));
  CHECK(bench.observed == bench.rows.size());
}
