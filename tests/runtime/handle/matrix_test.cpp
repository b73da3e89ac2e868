// Matrix handles: what plans of one matrix share, and new values for all of them.
#include "runtime/handle/matrix.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/handle/plan.hpp"
#include "runtime/plan/product_plan.hpp"
#include "runtime/plan/sddmm.hpp"
#include "runtime/plan/spmm.hpp"
#include "tests/bundle_sample.hpp"
#include "tests/temporary_folder.hpp"

using namespace sptile;
using runtime::Matrix;
using runtime::PlanOptions;
using runtime::ProductPlan;
using Plan = std::shared_ptr<ProductPlan>;

namespace {

// [. 1 . . 2 / . . . . . / 3 4 . 5 .], rows turned around in bittcf
std::shared_ptr<Matrix> sample_matrix(const runtime::MatrixOptions& options) {
  const TemporaryFolder folder;
  REQUIRE(BundleSample().write(folder / "a.h5"));
  auto bundle = runtime::Bundle::open(folder / "a.h5", {.copy = true});
  REQUIRE(bundle.has_value());
  return Matrix::from_bundle(std::move(*bundle), options);
}

Plan plan_of(Matrix& matrix, std::string_view format, const runtime::Operation& op = runtime::kSpmm) {
  auto plan = runtime::plan_matrix(matrix, op, {.formats = format}, {.n = 1});
  REQUIRE_MESSAGE(plan.has_value(), plan.error().text());
  return *plan;
}

/// C of a B of (1, 10, 100, 1000, 10000): which values stand where.
std::vector<float> product(const ProductPlan& plan) {
  const std::vector<float> b = {1, 10, 100, 1000, 10000};
  std::vector<float> c(3, -1);
  REQUIRE(runtime::run(plan, runtime::SpmmOperands{.b = b.data(), .ldb = 1, .c = c.data(), .ldc = 1}));
  return c;
}

const std::vector<float> kFirst = {20010, 0, 5043}, kSecond = {7060, 0, 98};
// In the order of CSR {1, 2, 3, 4, 5} becomes {6, .7, 8, 9, 0}; packed, bittcf has the last row first.
const std::vector<float> kFresh = {6, 0.7F, 8, 9, 0}, kFreshPacked = {8, 9, 0, 6, 0.7F};

ArrayView view(const std::vector<float>& values) { return ArrayView(std::span<const float>(values)); }

Errc code_of(const Status& status) { return status ? Errc::ok : status.error().code; }

}  // namespace

TEST_CASE("matrix: plans of all operations share a format, which goes with the last of them") {
  const auto matrix = sample_matrix({.refreshable = true});
  CHECK(matrix->memory().host == 0);
  Plan first = plan_of(*matrix, "bittcf"), second = plan_of(*matrix, "bittcf"),
       sample = plan_of(*matrix, "bittcf", runtime::kSddmm), other = plan_of(*matrix, "csr");
  CHECK(first->held == second->held);
  CHECK(first->held == sample->held);
  CHECK(first->held != other->held);
  CHECK(matrix->memory().host == 2 * 5 * sizeof(float));  // values of their own
  CHECK(matrix->memory().device == 0);
  first.reset();
  second.reset();
  other.reset();
  CHECK(matrix->memory().host == 5 * sizeof(float));
  sample.reset();
  CHECK(matrix->memory().host == 0);
}

TEST_CASE("matrix: threads that plan at once get one format") {
  const auto matrix = sample_matrix({.refreshable = true});
  std::vector<Plan> plans(8);
  {
    std::vector<std::jthread> threads;
    for (Plan& plan : plans)
      threads.emplace_back(
          [&] { plan = *runtime::plan_matrix(*matrix, runtime::kSpmm, {.formats = "bittcf"}, {.n = 1}); });
  }
  for (const Plan& plan : plans) {
    CHECK(plan->held == plans.front()->held);
    CHECK(product(*plan) == kFirst);
  }
}

TEST_CASE("matrix: new values reach every format, in the order of CSR or packed") {
  const auto matrix = sample_matrix({.refreshable = true});
  const Plan csr = plan_of(*matrix, "csr"), bittcf = plan_of(*matrix, "bittcf");
  CHECK(product(*csr) == kFirst);
  CHECK(product(*bittcf) == kFirst);
  REQUIRE(matrix->refresh(view(kFresh), nullptr));
  CHECK(product(*csr) == kSecond);
  CHECK(product(*bittcf) == kSecond);
  REQUIRE(matrix->refresh(view({1, 2, 3, 4, 5}), nullptr));
  CHECK(product(*bittcf) == kFirst);
  REQUIRE(matrix->refresh_packed(*bittcf->held, view(kFreshPacked), nullptr));
  CHECK(product(*csr) == kSecond);
  CHECK(product(*bittcf) == kSecond);
  REQUIRE(matrix->refresh_packed(*csr->held, view({1, 2, 3, 4, 5}), nullptr));
  CHECK(product(*csr) == kFirst);
  CHECK(product(*bittcf) == kFirst);
}

TEST_CASE("matrix: a format that is made later has the values of the last refresh") {
  const auto matrix = sample_matrix({.refreshable = true});
  REQUIRE(matrix->refresh(view(kFresh), nullptr));  // no format is there
  CHECK(product(*plan_of(*matrix, "bittcf")) == kSecond);
  CHECK(product(*plan_of(*matrix, "csr")) == kSecond);
  {
    const Plan bittcf = plan_of(*matrix, "bittcf");
    REQUIRE(matrix->refresh_packed(*bittcf->held, view({3, 4, 5, 1, 2}), nullptr));
  }
  CHECK(product(*plan_of(*matrix, "csr")) == kFirst);  // from a format whose plans are gone
  CHECK(product(*plan_of(*matrix, "bittcf")) == kFirst);
}

TEST_CASE("matrix: a format of another type does not take the values of the last refresh") {
  const TemporaryFolder folder;
  REQUIRE(BundleSample(DType::f32, DType::f16).write(folder / "a.h5"));
  auto bundle = runtime::Bundle::open(folder / "a.h5");
  REQUIRE(bundle.has_value());
  const auto matrix = Matrix::from_bundle(std::move(*bundle), {.refreshable = true});
  const std::vector<std::uint16_t> halves(5, 0x3C00);
  REQUIRE(matrix->refresh({DType::f16, halves.data(), 5}, nullptr));
  CHECK(runtime::plan_matrix(*matrix, runtime::kSpmm, {.formats = "bittcf"}, {.n = 1}).has_value());
  const auto other = runtime::plan_matrix(*matrix, runtime::kSpmm, {.formats = "csr"}, {.n = 1});
  REQUIRE_FALSE(other.has_value());
  CHECK(other.error().code == Errc::usage);
}

TEST_CASE("matrix: handles of the same data have values of their own, and no file") {
  std::shared_ptr<Matrix> matrix, shared;
  {
    const TemporaryFolder folder;
    REQUIRE(BundleSample().write(folder / "a.h5"));
    auto bundle = runtime::Bundle::open(folder / "a.h5");
    REQUIRE(bundle.has_value());
    matrix = Matrix::from_bundle(std::move(*bundle), {});
    std::filesystem::remove(folder / "a.h5");
  }
  shared = matrix->shared({.refreshable = true});
  CHECK(shared->content() == matrix->content());
  CHECK(shared->content() != 0);
  REQUIRE(shared->refresh(view(kFresh), nullptr));
  CHECK(product(*plan_of(*shared, "bittcf")) == kSecond);
  CHECK(product(*plan_of(*matrix, "bittcf")) == kFirst);
  matrix.reset();
  CHECK(product(*plan_of(*shared, "csr")) == kSecond);
}

TEST_CASE("matrix: what cannot be refreshed is refused, and changes nothing") {
  const auto fixed = sample_matrix({}), matrix = sample_matrix({.refreshable = true});
  CHECK(code_of(fixed->refresh(view(kFresh), nullptr)) == Errc::usage);
  const Plan plan = plan_of(*matrix, "bittcf"), foreign = plan_of(*fixed, "bittcf");
  CHECK(code_of(matrix->refresh(view({1, 2}), nullptr)) == Errc::usage);
  CHECK(code_of(matrix->refresh({}, nullptr)) == Errc::usage);
  const std::vector<double> doubles(5);
  CHECK(code_of(matrix->refresh(ArrayView(std::span<const double>(doubles)), nullptr)) == Errc::usage);
  int stream = 0;
  CHECK(code_of(matrix->refresh(view(kFresh), &stream)) == Errc::usage);
  CHECK(code_of(matrix->refresh_packed(*plan_of(*sample_matrix({}), "csr")->held, view(kFresh), nullptr)) ==
        Errc::usage);
  CHECK(product(*plan) == kFirst);
}

TEST_CASE("matrix: numbers of entries in CSR order, whatever the format") {
  const std::vector<float> x = {1, 10, 100}, y = {1, 2, 3, 4, 5};
  // X Y^T at (0, 1), (0, 4), (2, 0), (2, 1), (2, 3).
  const std::vector<float> expected = {2, 5, 100, 200, 400}, packed = {100, 200, 400, 2, 5};
  const auto sampled = [&](const Plan& plan, double beta, std::vector<float> out) {
    REQUIRE(runtime::run(
        *plan, runtime::SddmmOperands{
                   .x = x.data(), .ldx = 1, .y = y.data(), .ldy = 1, .out = out.data(), .beta = beta}));
    return out;
  };
  for (const bool refreshable : {false, true}) {
    const auto matrix = sample_matrix({.refreshable = refreshable});
    const auto plan_in = [&](std::string_view format, runtime::EntryOrder order) {
      auto plan =
          runtime::plan_matrix(*matrix, runtime::kSddmm, {.formats = format}, {.n = 1, .order = order});
      REQUIRE_MESSAGE(plan.has_value(), plan.error().text());
      return *plan;
    };
    for (const std::string_view format : {"csr", "bittcf"}) {
      const Plan plan = plan_in(format, runtime::EntryOrder::csr);
      CHECK(sampled(plan, 0, {9, 9, 9, 9, 9}) == expected);
      CHECK(sampled(plan, 1, {1, 2, 3, 4, 5}) == std::vector<float>{3, 7, 103, 204, 405});
    }
    CHECK(sampled(plan_in("bittcf", runtime::EntryOrder::packed), 0, std::vector<float>(5)) == packed);
  }
}

TEST_CASE("matrix: CSR order of a format that nobody knows the order of is refused") {
  const auto matrix = sample_matrix({});
  runtime::PlanMatrix bittcf = plan_of(*matrix, "bittcf")->matrix;
  const PlanOptions options = {.n = 1, .order = runtime::EntryOrder::csr};
  const auto code = [&] {
    const auto plan = runtime::plan_sddmm(bittcf, options);
    return plan.has_value() ? Errc::ok : plan.error().code;
  };
  CHECK(code() == Errc::ok);
  const std::vector<std::int64_t> twice = {0, 1, 2, 3, 3};
  const ArrayView positions =
      std::exchange(bittcf.value_source, ArrayView(std::span<const std::int64_t>(twice)));
  CHECK(code() == Errc::bad_input);
  bittcf.value_source = {};
  CHECK(code() == Errc::usage);
  bittcf.value_source = positions;
  CHECK(code() == Errc::ok);
}

TEST_CASE("matrix: formats that are not there, by name") {
  const auto matrix = sample_matrix({});
  const auto error = [&](std::string_view formats) {
    const auto plan = runtime::plan_matrix(*matrix, runtime::kSpmm, {.formats = formats}, {.n = 1});
    return plan.has_value() ? std::string() : plan.error().message;
  };
  CHECK(error("tall").find("the bundle has no format tall; stored formats: csr, bittcf") !=
        std::string::npos);
  CHECK(error("csr,tall").find("the bundle has no format tall") != std::string::npos);
  CHECK(error("tall").find("--format tall") != std::string::npos);
  CHECK(error("any").empty());
  CHECK(error("none").find("unknown format none") != std::string::npos);
  CHECK(error("csr,bittcf").empty());
  CHECK(error("").empty());
  CHECK(matrix->formats().size() == 2);
}
