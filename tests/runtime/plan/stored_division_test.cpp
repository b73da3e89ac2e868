// CPU plans that are stored: their keys, what comes back of them, and what is refused.
#include "runtime/plan/stored_division.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>

#include "formats/layout/blocks.hpp"
#include "formats/layout/bundle_layout.hpp"
#include "runtime/cpu/isa.hpp"
#include "runtime/operation/sddmm.hpp"
#include "runtime/operation/spmm.hpp"
#include "runtime/operation/update_gradient.hpp"
#include "runtime/plan/choice.hpp"
#include "runtime/plan/plan_key.hpp"
#include "runtime/plan/product_plan.hpp"
#include "runtime/plan/stored.hpp"
#include "tests/runtime/random_problem.hpp"

using namespace sptile;
using namespace sptile::test;
using namespace sptile::runtime;

namespace {

constexpr std::int64_t kN = 200;
constexpr int kThreads = 2;

/// Rows of many lengths; some are empty, and one is long enough that its columns are cut.
formats::Csr sample(std::int64_t rows = 300) {
  Random random(3);
  return random_matrix(rows, 1000, DType::f32, random, [](std::int64_t r, std::int64_t c) {
    if (r % 5 == 0) return 0.0;
    return r == 17 ? 0.95 : (r / 8 + c / 16) % 9 == 0 ? 0.1 : 0.002;
  });
}

bool same_chunks(const std::vector<Chunk>& a, const std::vector<Chunk>& b) {
  return std::ranges::equal(a, b, [](const Chunk& x, const Chunk& y) {
    return x.first == y.first && x.last == y.last && x.first_col == y.first_col && x.last_col == y.last_col;
  });
}

/// A division as it is stored, with its runs.
struct Stored {
  DivisionToStore division;

  explicit Stored(const DivisionRequest& request) : division(division_to_store(request)) {}
  [[nodiscard]] std::vector<UnitRun> runs() const {
    std::vector<UnitRun> all(division.bytes.size() / sizeof(UnitRun));
    std::memcpy(all.data(), division.bytes.data(), division.bytes.size());
    return all;
  }
  void set(const std::vector<UnitRun>& runs) {
    division.numbers = {std::ssize(runs)};
    division.bytes.resize(runs.size() * sizeof(UnitRun));
    std::memcpy(division.bytes.data(), runs.data(), division.bytes.size());
  }
  [[nodiscard]] Result<WorkPlan> restored(const DivisionRequest& request) const {
    return restore_division(request, {division.numbers, division.bytes});
  }
};

/// What is wrong with a division of csr after a change to its runs; empty: nothing.
std::string wrong_after(const std::function<void(std::vector<UnitRun>&)>& change) {
  const formats::Csr a = sample();
  const Formatted csr = format_matrix(a, "csr");
  const formats::FormatView view = csr.data.view();
  const DivisionRequest request{kSpmm, view, kN, kThreads};
  Stored stored(request);
  std::vector<UnitRun> runs = stored.runs();
  REQUIRE(runs.size() > 3);
  change(runs);
  stored.set(runs);
  const auto restored = stored.restored(request);
  if (restored) return {};
  CHECK(restored.error().code == Errc::bad_input);
  return restored.error().message;
}

/// A plan in the form in which a bundle has it.
StoredPlan as_stored(const PlanToStore& plan) {
  const auto numbers = std::as_bytes(std::span(plan.numbers));
  return {.name = "/plans/0000",
          .key = plan.key,
          .schedule = {plan.numbers, plan.schedule},
          .numbers_hash = formats::bundle_hash(numbers.data(), numbers.size()),
          .bytes_hash = formats::bundle_hash(plan.schedule.data(), plan.schedule.size())};
}

PlanOptions options(int threads = kThreads) {
  return {.n = kN, .kernel = "cpu.csr.generic", .threads = threads};
}

PlanToStore plan_of(const PlanMatrix& a, const PlanOptions& requested, const Operation& op = kSpmm) {
  const auto kernel = choose_kernel(multiplicand_of(op, a.format), requested, {});
  REQUIRE(kernel);
  auto plan = plan_to_store(op, a, *kernel, requested, {});
  REQUIRE(plan);
  return std::move(*plan);
}

/// A csr matrix with one stored plan.
struct Problem {
  formats::Csr a = sample();
  Formatted csr = format_matrix(a, "csr");
  PlanToStore made = plan_of(csr.matrix(), options());
  StoredPlan stored = as_stored(made);

  [[nodiscard]] PlanMatrix matrix() const {
    PlanMatrix with_plan = csr.matrix();
    with_plan.stored = std::span(&stored, 1);
    return with_plan;
  }
};

}  // namespace

TEST_CASE("stored divisions: chunks of every format and operation come back as they were made") {
  const formats::Csr a = sample();
  for (const formats::Converter& converter : formats::converters()) {
    CAPTURE(converter.format);
    const Formatted formatted = format_matrix(a, converter.from_csr);
    const formats::FormatView view = formatted.data.view();
    for (const Operation* const op : {&kSpmm, &kSddmm, &kUpdateGradient})
      for (const int threads : {1, 2, 64}) {
        const DivisionRequest request{*op, view, kN, threads};
        const WorkPlan made = divide(request);
        const auto restored = Stored(request).restored(request);
        REQUIRE_MESSAGE(restored, restored.error().message);
        CHECK(same_chunks(restored->chunks, made.chunks));
        CHECK(restored->empty_rows == made.empty_rows);
      }
  }
}

TEST_CASE("stored divisions: a matrix without rows has no runs") {
  const formats::Csr a = sample(0);
  const Formatted csr = format_matrix(a, "csr");
  const formats::FormatView view = csr.data.view();
  const DivisionRequest request{kSpmm, view, kN, kThreads};
  const Stored stored(request);
  CHECK(stored.division.numbers == std::vector<std::int64_t>{0});
  const auto restored = stored.restored(request);
  REQUIRE(restored);
  CHECK(restored->chunks.empty());
}

TEST_CASE("stored divisions: any cut of the units and columns is accepted") {
  CHECK(wrong_after([](auto&) {}).empty());
  CHECK(wrong_after([](auto& runs) { --runs[runs.size() - 2].last; }).empty());
  CHECK(wrong_after([](auto& runs) { runs[1].parts = 2; }).empty());
  CHECK(wrong_after([](auto& runs) { runs.erase(runs.begin()); }).empty());
}

TEST_CASE("stored divisions: runs that are not a division are refused with the first wrong one") {
  const std::string none = "run 1 of its division has no units",
                    parts = "run 1 of its division has an invalid number of column ranges";
  CHECK(wrong_after([](auto& runs) { runs[1].last = runs[0].last; }) == none);
  CHECK(wrong_after([](auto& runs) { runs[1].last = -1; }) == none);
  CHECK(wrong_after([](auto& runs) { runs[1].last = std::int64_t{1} << 62; }) ==
        "run 1 of its division ends after the last unit");
  CHECK(wrong_after([](auto& runs) { runs[1].parts = 0; }) == parts);
  CHECK(wrong_after([](auto& runs) { runs[1].parts = kN / 64 + 2; }) == parts);
  CHECK(wrong_after([](auto& runs) { runs.pop_back(); }) == "its division ends before the last unit");
  CHECK(wrong_after([](auto& runs) { runs.push_back(runs.back()); }).find("has no units") !=
        std::string::npos);
}

TEST_CASE("stored divisions: numbers and bytes are bounded before anything is allocated") {
  Random random(3);
  const formats::Csr a = random_matrix(1000, 3, 0.5, DType::f32, random);
  const Formatted csr = format_matrix(a, "csr");
  const formats::FormatView view = csr.data.view();
  const DivisionRequest request{kSpmm, view, kN, 1};
  Stored stored(request);
  std::vector<UnitRun> rows;
  for (std::int64_t r = 1; r <= max_chunks(1) + 1; ++r) rows.push_back({r, 1});
  stored.set(rows);
  CHECK_FALSE(stored.restored(request));
  rows.pop_back();
  rows.back().last = view.rows;
  stored.set(rows);
  CHECK(stored.restored(request));
  rows[0].parts = 2;
  stored.set(rows);
  const auto restored = stored.restored(request);
  REQUIRE_FALSE(restored);
  CHECK(restored.error().message.find("maximum number of chunks") != std::string::npos);
  for (const std::int64_t count : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{1} << 60}) {
    stored.division.numbers = {count};
    CHECK_FALSE(stored.restored(request));
  }
  stored.division.numbers = {};
  CHECK_FALSE(stored.restored(request));
}

TEST_CASE("stored divisions: a run of rs_tile has units of one kind, and no part of a split window") {
  const formats::Csr a = sample();
  const Formatted formatted = format_matrix(a, "rs_tile");
  const formats::FormatView view = formatted.data.view();
  const formats::Blocks blocks = formats::blocks_of(view);
  const DivisionRequest request{kSpmm, view, kN, kThreads};
  const WorkPlan made = divide(request);
  const std::int64_t filled = blocks.windows() + blocks.rows.size(),
                     all = filled + std::ssize(made.empty_rows);
  REQUIRE(blocks.windows() > 0);
  REQUIRE(all > filled);
  Stored stored(request);
  const auto accepted = [&](const std::vector<UnitRun>& runs) {
    stored.set(runs);
    return stored.restored(request).has_value();
  };
  std::vector<UnitRun> kinds = {{blocks.windows(), 1}};
  if (filled > blocks.windows()) kinds.push_back({filled, 1});
  kinds.push_back({all, 1});
  CHECK(accepted(kinds));
  CHECK_FALSE(accepted({{all, 1}}));
  kinds.erase(kinds.begin());
  CHECK_FALSE(accepted(kinds));
}

TEST_CASE("stored divisions: operations that are divided by columns store nothing") {
  const formats::Csr a = sample();
  const Formatted csr = format_matrix(a, "csr");
  const formats::FormatView view = csr.data.view();
  const DivisionRequest request{kUpdateGradient, view, kN, kThreads};
  Stored stored(request);
  CHECK(stored.division.numbers.empty());
  CHECK(stored.division.bytes.empty());
  stored.division.bytes.resize(16);
  CHECK_FALSE(stored.restored(request));
}

TEST_CASE("stored divisions: random bytes are refused, or give chunks that cover everything once") {
  const formats::Csr a = sample();
  std::mt19937 random(1);
  for (const std::string_view format : {"csr", "rs_tile", "tall"}) {
    const Formatted formatted = format_matrix(a, format);
    const formats::FormatView view = formatted.data.view();
    const DivisionRequest request{kSpmm, view, kN, kThreads};
    const Stored made(request);
    const std::int64_t units = divide(request).chunks.back().last;
    int accepted = 0;
    for (int round = 0; round < 400; ++round) {
      Stored stored = made;
      std::byte& byte = stored.division.bytes[random() % stored.division.bytes.size()];
      byte ^= std::byte{1} << random() % 8;
      const auto restored = stored.restored(request);
      if (!restored) continue;
      ++accepted;
      std::int64_t covered = 0;
      for (const Chunk& chunk : restored->chunks)
        covered += (chunk.last - chunk.first) * (chunk.last_col - chunk.first_col);
      CHECK(covered == units * kN);
    }
    CHECK(accepted < 200);
  }
}

TEST_CASE("CPU plan keys: name kernel, types and threads") {
  const Problem p;
  CHECK(p.made.key ==
        "sptile-plan 1\nop spmm\nside matrix\nformat csr\nkernel cpu.csr.generic\nversion 1\nn 200\nvalues "
        "f32\ndense f32\nresult f32\nprecision fp32\ndevice cpu\nthreads 2\n");
}

TEST_CASE("CPU plan keys: have no threads where the division does not depend on them") {
  const formats::Csr a = sample();
  const Formatted csr = format_matrix(a, "csr");
  PlanOptions requested = options();
  requested.kernel = {};
  requested.variant.m = 8;
  CHECK(plan_of(csr.matrix(), requested, kUpdateGradient).key.find("threads") == std::string::npos);
}

TEST_CASE("CPU plans: a stored plan is taken for its thread count and kernel only") {
  const Problem p;
  const auto stored = [&](const PlanOptions& requested) {
    const auto plan = plan_spmm(p.matrix(), requested);
    REQUIRE(plan);
    return is_stored(**plan);
  };
  CHECK(stored(options()));
  PlanOptions any = options();
  any.kernel = {};
  CHECK(stored(any));  // it was stored for a kernel of this machine
  CHECK_FALSE(stored(options(3)));
  PlanOptions wider = options();
  wider.n = kN + 1;
  CHECK_FALSE(stored(wider));
  PlanOptions anew = options();
  anew.stored = false;
  CHECK_FALSE(stored(anew));
}

TEST_CASE("CPU plans: a kernel that this machine lacks is passed over") {
  Problem p;
  const std::size_t at = p.made.key.find("cpu.csr.generic");
  p.made.key.replace(at, std::strlen("cpu.csr.generic"), "cpu.csr.avx1024");
  p.stored = as_stored(p.made);
  PlanOptions any = options();
  any.kernel = {};
  const auto plan = plan_spmm(p.matrix(), any);
  REQUIRE(plan);
  CHECK_FALSE(is_stored(**plan));
}

TEST_CASE("CPU plans: a stored plan decides between formats") {
  const Problem p;
  const Formatted bittcf = format_matrix(p.a, "bittcf");
  PlanOptions requested = options();
  requested.kernel = {};
  PlanToStore made = plan_of(bittcf.matrix(), requested);
  const StoredPlan stored[] = {p.stored, as_stored(made)};
  std::vector<PlanMatrix> matrices = {p.csr.matrix(), bittcf.matrix()};
  for (PlanMatrix& one : matrices) one.stored = stored;
  const auto chosen = choose_plan(kSpmm, matrices, requested);
  REQUIRE(chosen);
  CHECK(is_stored(*chosen->plan));
  CHECK(chosen->plan->matrix.format.layout->name == "bittcf");
}

TEST_CASE("CPU plans: a damaged or foreign division is refused with the plan's name") {
  Problem p;
  const auto refused = [&] {
    const auto plan = plan_spmm(p.matrix(), options());
    REQUIRE_FALSE(plan);
    CHECK(plan.error().code == Errc::bad_input);
    CHECK(plan.error().message.find("/plans/0000") != std::string::npos);
    return plan.error().message;
  };
  p.made.schedule[0] ^= std::byte{1};
  CHECK(refused().find("XXH3") != std::string::npos);
  const formats::Csr other = sample(200);
  const Formatted shorter = format_matrix(other, "csr");
  p.made = plan_of(shorter.matrix(), options());
  p.stored = as_stored(p.made);
  CHECK(refused().find("ends before the last unit") != std::string::npos);
}

TEST_CASE("prove_stored: finds a division that is not of the format, and leaves other versions alone") {
  const Problem p;
  const formats::Csr other = sample(200);
  const Formatted shorter = format_matrix(other, "csr");
  CHECK(prove_stored(p.stored, p.csr.data.view()));
  const Status wrong = prove_stored(p.stored, shorter.data.view());
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().code == Errc::bad_input);
  for (const auto& [line, changed] : {std::pair("op spmm", "op future"),
                                      {"version 1", "version 2"},
                                      {"n 200", "n 9223372036854775807"},
                                      {"threads 2", "threads 1000000"},
                                      {"device cpu", "device tpu"}}) {
    std::string key = p.made.key;
    key.replace(key.find(line), std::strlen(line), changed);
    StoredPlan newer = p.stored;
    newer.key = key;
    CHECK(prove_stored(newer, shorter.data.view()));
  }
}
