// Candidates that are run before one of them is chosen.
#include "runtime/plan/measured_choice.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "runtime/plan/sddmm.hpp"
#include "tests/profile_file.hpp"
#include "tests/runtime/choice/three_formats.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::Candidate;
using runtime::PlanOptions;

namespace {

/// Numbers of a profile in which the kernels of these formats for the CPU take so many microseconds.
std::string costs(const runtime::Operation& op,
                  const std::vector<std::pair<std::string_view, double>>& formats) {
  std::ostringstream lines;
  for (const auto& [format, us] : formats)
    lines << "number " << runtime::find_kernel(op, format, runtime::Device::cpu)->name << " fp32 launch "
          << us << "\n";
  return lines.str();
}

constexpr const char* kCpu = "cpu 0 x";

/// Operations between whose formats there is a choice.
std::vector<const runtime::Operation*> operations_of_all_formats() {
  std::vector<const runtime::Operation*> some;
  for (const runtime::Operation* op : runtime::operations())
    if (runtime::find_kernel(*op, "bmat", runtime::Device::cpu) != nullptr) some.push_back(op);
  return some;
}

constexpr PlanOptions kMeasured = {.n = 12, .choice = runtime::Choice::measured};

Result<std::vector<Candidate>> candidates_of(const runtime::Operation& op,
                                             std::span<const runtime::PlanMatrix> matrices,
                                             const PlanOptions& options) {
  auto chosen = runtime::choose_plan(op, matrices, options);
  if (!chosen) return tl::unexpected(chosen.error());
  const Candidate* const best = runtime::chosen_of(chosen->candidates);
  REQUIRE(best != nullptr);
  CHECK(runtime::kernel_name(*chosen->plan) == best->kernel->name);
  return std::move(chosen->candidates);
}

int measured_count(const std::vector<Candidate>& list) {
  int count = 0;
  for (const Candidate& c : list) count += c.measured_us ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("measured choice: the fastest of all that ran, for both operations") {
  const ThreeFormats p;
  for (const runtime::Operation* op : operations_of_all_formats()) {
    const ProfileFile profile(costs(*op, {{"csr", 5}, {"bmat", 1}}),
                              kCpu);  // bittcf is not known: all are run
    const auto list = candidates_of(*op, p.matrices, kMeasured);
    REQUIRE_MESSAGE(list.has_value(), list.error().text());
    CHECK(measured_count(*list) == 3);
    const Candidate* const best = runtime::chosen_of(*list);
    REQUIRE(best != nullptr);
    int chosen = 0;
    for (const Candidate& c : *list) {
      CHECK(*c.measured_us > 0);
      CHECK(*best->measured_us <= *c.measured_us);
      chosen += c.chosen ? 1 : 0;
    }
    CHECK(chosen == 1);
  }
}

TEST_CASE("measured choice: what is predicted to be hopeless is not run") {
  const ThreeFormats p;
  {
    const ProfileFile profile(costs(runtime::kSpmm, {{"csr", 10}, {"bittcf", 29}, {"bmat", 31}}), kCpu);
    const auto list = candidates_of(runtime::kSpmm, p.matrices, kMeasured);
    REQUIRE(list.has_value());
    CHECK(measured_count(*list) == 2);
    CHECK_FALSE((*list)[2].measured_us);
  }
  const ProfileFile profile(costs(runtime::kSpmm, {{"csr", 10}, {"bittcf", 90}, {"bmat", 91}}), kCpu);
  const auto one = candidates_of(runtime::kSpmm, p.matrices, kMeasured);
  CHECK(measured_count(*one) == 0);  // nothing to choose
  CHECK(runtime::chosen_of(*one)->format == "csr");
  CHECK(measured_count(*candidates_of(runtime::kSpmm, {p.matrices.data(), 1}, kMeasured)) == 0);
}

TEST_CASE("measured choice: the plan that it gives is right") {
  ThreeFormats p;
  const auto plan = runtime::plan_product(runtime::kSpmm, p.matrices, kMeasured);
  REQUIRE_MESSAGE(plan.has_value(), plan.error().text());
  const formats::Array b = random_values(80 * 12, DType::f32, p.random);
  formats::Array c(DType::f32, 100 * 12);
  const runtime::SpmmOperands operands = {.b = b.data(), .ldb = 12, .c = c.data(), .ldc = 12};
  REQUIRE(runtime::run(**plan, operands).has_value());
  CHECK(runtime::relative_error(p.a.view(), 12, DType::f32, operands) <
        runtime::tolerated_error(p.a.view(), DType::f32));
}

TEST_CASE("measured choice: every type, matrices without rows or entries") {
  const ProfileFile profile("", kCpu);  // without a model, all are run
  Random random(5);
  for (const DType dtype : {DType::f32, DType::f64}) {
    const formats::Csr a = random_matrix(9, 7, 0.4, dtype, random);
    const Formatted csr = format_matrix(a, "csr"), tall = format_matrix(a, "tall");
    const std::vector<runtime::PlanMatrix> matrices = {csr.matrix(), tall.matrix()};
    PlanOptions options = kMeasured;
    options.dense = dtype;
    for (const runtime::Operation* op : operations_of_all_formats())
      CHECK(measured_count(*candidates_of(*op, matrices, options)) == 2);
  }
  for (const std::int64_t rows : {0, 5}) {
    const formats::Csr a = random_matrix(rows, 7, 0, DType::f32, random);
    const Formatted csr = format_matrix(a, "csr"), bmat = format_matrix(a, "bmat");
    const std::vector<runtime::PlanMatrix> matrices = {csr.matrix(), bmat.matrix()};
    for (const runtime::Operation* op : operations_of_all_formats()) {
      const auto plan = runtime::plan_product(*op, matrices, kMeasured);
      CHECK_MESSAGE(plan.has_value(), plan.error().text());
    }
  }
}

TEST_CASE("measured choice: errors") {
  const ProfileFile profile("", kCpu);
  ThreeFormats p;
  const auto code = [&](const PlanOptions& options) {
    const auto plan = runtime::plan_product(runtime::kSpmm, p.matrices, options);
    return plan.has_value() ? Errc::ok : plan.error().code;
  };
  PlanOptions options = kMeasured;
  options.n = 0;
  CHECK(code(options) == Errc::usage);
  options.n = std::int64_t{1} << 42;
  CHECK(code(options) == Errc::io);
  options.n = std::int64_t{1} << 61;
  CHECK(code(options) == Errc::unsupported);
  options = kMeasured;
  options.dense = DType::f16;  // no kernel of the CPU
  CHECK(code(options) == Errc::unsupported);
  options = kMeasured;
  options.threads = -1;
  CHECK(code(options) == Errc::usage);
  // A damaged format is an error though others are sound.
  const auto columns = p.bittcf.data.view().arrays[3].as<std::int32_t>();
  const_cast<std::int32_t&>(columns[0]) = 1000;
  CHECK(code(kMeasured) == Errc::bad_input);
}

namespace {

/// The formats of a matrix, one after another. `errors` has the result of making each.
struct OneByOne {
  const ThreeFormats& p;
  std::vector<Errc> errors = std::vector<Errc>(p.matrices.size(), Errc::ok);
  std::vector<std::size_t> made = {};
  std::vector<std::string> planned = {};
  std::size_t unplannable = SIZE_MAX;  ///< a format whose plans are refused

  runtime::Alternatives alternatives() {
    return {
        p.matrices.size(),
        [this](std::size_t i) -> Result<std::vector<Candidate>> {
          made.push_back(i);
          if (errors[i] != Errc::ok) return fail(errors[i], "alternative " + std::to_string(i));
          return runtime::predict_product(runtime::kSpmm, {&p.matrices[i], 1}, PlanOptions{.n = 12});
        },
        [this](std::size_t i, const PlanOptions& options) -> Result<std::shared_ptr<runtime::ProductPlan>> {
          planned.emplace_back(options.kernel);
          if (i == unplannable) return fail(Errc::device, "no memory");
          PlanOptions one = {.n = 12};
          one.kernel = options.kernel;
          return runtime::plan_product(runtime::kSpmm, p.matrices[i], one);
        }};
  }
  Result<std::shared_ptr<runtime::ProductPlan>> fastest(const PlanOptions& options = kMeasured) {
    return runtime::fastest_plan(runtime::kSpmm, p.matrices[0].format, options, alternatives());
  }
};

std::string kernel_of(std::string_view format) {
  return std::string(runtime::find_kernel(runtime::kSpmm, format, runtime::Device::cpu)->name);
}

}  // namespace

TEST_CASE("fastest plan: the first format if there is no memory for operands") {
  const ThreeFormats p;
  OneByOne formats{p};
  PlanOptions options = kMeasured;
  options.n = std::int64_t{1} << 42;
  const auto plan = formats.fastest(options);
  REQUIRE_MESSAGE(plan.has_value(), plan.error().text());
  CHECK(formats.made == std::vector<std::size_t>{0});
  CHECK(runtime::kernel_name(**plan) == kernel_of("csr"));
}

TEST_CASE("fastest plan: refused formats are skipped; other errors are returned") {
  const ProfileFile profile("", kCpu);
  const ThreeFormats p;
  const auto fastest = [&](std::vector<Errc> errors) {
    OneByOne formats{p, std::move(errors)};
    return formats.fastest();
  };
  const auto second = fastest({Errc::unsupported, Errc::ok, Errc::device});
  REQUIRE_MESSAGE(second.has_value(), second.error().text());
  CHECK(runtime::kernel_name(**second) == kernel_of(p.matrices[1].format.layout->name));
  const auto none = fastest({Errc::unsupported, Errc::device, Errc::io});
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().message == "alternative 0");
  const auto damaged = fastest({Errc::ok, Errc::bad_input, Errc::ok});
  REQUIRE_FALSE(damaged.has_value());
  CHECK(damaged.error().code == Errc::bad_input);
}

TEST_CASE("fastest plan: a format that is predicted to be hopeless is made, but not run") {
  const ThreeFormats p;
  const ProfileFile profile(costs(runtime::kSpmm, {{"csr", 10}, {"bittcf", 31}, {"bmat", 29}}), kCpu);
  OneByOne formats{p};
  REQUIRE(formats.fastest().has_value());
  CHECK(formats.made == std::vector<std::size_t>{0, 1, 2});
  CHECK(formats.planned == std::vector<std::string>{kernel_of("csr"), kernel_of("bmat")});
}

TEST_CASE("fastest plan: a candidate that cannot be planned does not make others hopeless") {
  const ThreeFormats p;
  const ProfileFile profile(costs(runtime::kSpmm, {{"csr", 10}, {"bittcf", 50}, {"bmat", 200}}), kCpu);
  OneByOne formats{p};
  formats.unplannable = 0;
  const auto plan = formats.fastest();
  REQUIRE_MESSAGE(plan.has_value(), plan.error().text());
  CHECK(runtime::kernel_name(**plan) == kernel_of("bittcf"));
}

TEST_CASE("budget: without time, only the candidate with the lowest prediction runs") {
  const ThreeFormats p;
  const ProfileFile profile(costs(runtime::kSpmm, {{"csr", 3}, {"bittcf", 2}, {"bmat", 4}}), kCpu);
  PlanOptions options = kMeasured;
  options.budget = 0;
  const auto list = candidates_of(runtime::kSpmm, p.matrices, options);
  REQUIRE(list.has_value());
  CHECK(measured_count(*list) == 1);
  CHECK(runtime::chosen_of(*list)->format == "bittcf");
  OneByOne formats{p};
  REQUIRE(formats.fastest(options).has_value());
  CHECK(formats.planned == std::vector<std::string>{kernel_of("csr")});  // the first format is made first
  options.budget = -1;
  CHECK(candidates_of(runtime::kSpmm, p.matrices, options).error().code == Errc::usage);
}
