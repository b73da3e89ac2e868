// The code of the kernels of softmax and attention, run on the host lane by lane.
#include <doctest/doctest.h>

#include "tests/runtime/cuda/emulated_block.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wconversion"
#include "runtime/cuda/families/attention/attention.cu"
#include "runtime/cuda/families/attention/gradient.cu"
#include "runtime/cuda/families/attention/softmax.cu"
#pragma GCC diagnostic pop

#include "runtime/operation/attention_gradient.hpp"
#include "runtime/operation/attention_gradient_t.hpp"
#include "runtime/operation/softmax_rows.hpp"
#include "runtime/operation/softmax_rows_gradient.hpp"
#include "tests/runtime/cuda/emulated_product.hpp"
#include "tests/runtime/head_problem.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::Operation;
using runtime::Score;
using runtime::cuda::AttentionHeader;
using runtime::cuda::DeviceInfo;
using runtime::cuda::DeviceKernel;
using runtime::cuda::Launch;
using runtime::cuda::Schedule;

namespace {

struct Family {
  const Operation* op;
  std::span<const DeviceKernel> (*kernels)();
};
constexpr Family kScored[] = {
    {&runtime::kAttention, runtime::cuda::attention_kernels},
    {&runtime::kAttentionGradient, runtime::cuda::attention_gradient_kernels},
    {&runtime::kAttentionGradientT, runtime::cuda::attention_gradient_t_kernels},
};
constexpr Family kSoftmax[] = {
    {&runtime::kSoftmaxRows, runtime::cuda::softmax_kernels},
    {&runtime::kSoftmaxRowsGradient, runtime::cuda::softmax_gradient_kernels},
};

const DeviceKernel& instance(const Family& family, const runtime::DenseTypes& types) {
  for (const DeviceKernel& row : family.kernels())
    if (types_of(row) == types) return row;
  FAIL("no instance");
  std::abort();
}

/// Counters start at zero, sums may start as anything.
std::vector<double> workspace_of(const Schedule& schedule) {
  std::vector<double> workspace(schedule.workspace_bytes / sizeof(double) + 2, 1e30);
  if (schedule.header.is<AttentionHeader>()) {
    const auto& scratch = schedule.header.as<AttentionHeader>().scratch;
    std::fill(workspace.begin() + scratch.counters_at / 8, workspace.begin() + scratch.partials_at / 8, 0.0);
  }
  return workspace;
}

void run(const Family& family, HeadProblem& p, const DeviceInfo& device, const Formatted& formatted,
         std::int64_t planned_n) {
  const DeviceKernel& kernel = instance(family, p.types());
  const formats::FormatView format = with_addresses(formatted.data.view());
  const Schedule schedule =
      stored_schedule(kernel, {format, planned_n != 0 ? planned_n : p.n(), device, {}, p.variant()});
  std::vector<double> workspace = workspace_of(schedule);
  const std::size_t room = schedule.workspace_bytes / sizeof(double);
  std::vector<std::max_align_t> bytes(schedule.bytes.size() / sizeof(std::max_align_t) + 1);
  if (!schedule.bytes.empty()) std::memcpy(bytes.data(), schedule.bytes.data(), schedule.bytes.size());
  Launch launch;
  launch.format = format;
  launch.row_order = formatted.order.empty() ? nullptr : formatted.order.data();
  launch.schedule = reinterpret_cast<const std::byte*>(bytes.data());
  launch.workspace = reinterpret_cast<std::byte*>(workspace.data());
  launch.header = &schedule.header;
  launch.operands = p.operands();
  launch.n = p.n();
  launch.sizes = p.run_sizes();
  launch.variant = p.variant();
  launch.device = &device;
  CHECK(kernel.launch(launch, nullptr) == 0);
  CHECK_FALSE(EmulatedWarp::diverged);
  CHECK_FALSE(memory_order.violated);
  CHECK(workspace[room + 1] == 1e30);
  if (!schedule.header.is<AttentionHeader>()) return;
  const auto& scratch = schedule.header.as<AttentionHeader>().scratch;
  CHECK(std::all_of(workspace.begin() + scratch.counters_at / 8, workspace.begin() + scratch.partials_at / 8,
                    [](double x) { return std::bit_cast<std::uint64_t>(x) == 0; }));
}

void check(const Family& family, HeadProblem& p, const DeviceInfo& device = emulated_device(),
           std::vector<std::int32_t> order = {}, std::int64_t planned_n = 0) {
  CAPTURE(p.op().name);
  CAPTURE(name_of(p.types().operands));
  CAPTURE(name_of(p.types().result));
  CAPTURE(static_cast<int>(p.variant().score));
  CAPTURE(p.n());
  CAPTURE(p.variant().m);
  CAPTURE(p.variant().heads);
  CAPTURE(p.operands().dense[0].ld);
  CAPTURE(p.operands().dense[0].batch);
  run(family, p, device, format_matrix(p.matrix(), "csr", std::move(order)), planned_n);
  CHECK(p.error() <= p.tolerance());
  CHECK(p.gaps_are_untouched());
}

/// Runs of rows, and one that is cut in pieces.
formats::Csr matrix(Random& random, std::int64_t rows = 23) { return skewed_matrix(rows, 210, random); }

constexpr Score kScores[] = {Score::dot, Score::cosine, Score::additive};

}  // namespace

TEST_CASE("attention kernels: any n and m, several slices, groups of every width") {
  Random random(2);
  const formats::Csr a = matrix(random, 9);
  for (const Family& family : kScored) {
    for (const auto& [n, m] :
         {std::pair{1, 33}, {3, 17}, {33, 3}, {64, 100}, {100, 64}, {128, 32}, {8, 300}, {260, 8}})
      for (const Score score : {Score::dot, Score::cosine}) {
        HeadProblem p(*family.op, a, {.m = m, .score = score}, n, DType::f32, {2}, random);
        check(family, p);
      }
    HeadProblem half(*family.op, a, {.m = 264}, 272, DType::f16, {}, random);
    check(family, half);
    HeadProblem twice(*family.op, a, {.m = 66}, 130, DType::f64, {}, random);
    check(family, twice);
  }
}

TEST_CASE("attention kernels: rows of Y that are rows of V, too, are read once") {
  Random random(3);
  const formats::Csr a = matrix(random);
  for (const Family& family : {kScored[0], kScored[1]})
    for (const Score score : {Score::dot, Score::cosine})
      for (const std::int64_t n : {32, 33, 200}) {
        HeadProblem separate(*family.op, a, {.score = score}, n, DType::f32, {2, 0, n == 32}, random);
        std::memcpy(separate.array(2).data(), separate.array(1).data(),
                    static_cast<std::size_t>(separate.array(1).view().bytes()));
        check(family, separate);
        const auto result = [&] {
          const formats::Array& last = separate.array(family.op->operands.size() - 1);
          const auto* const from = static_cast<const std::byte*>(last.data());
          return std::vector<std::byte>(from, from + last.view().bytes());
        };
        const std::vector<std::byte> expected = result();
        separate.operands().dense[2].data = separate.operands().dense[1].data;
        check(family, separate);
        CHECK(result() == expected);
        // What is in V's own place is not read.
        separate.sprinkle(2, 2, std::numeric_limits<double>::quiet_NaN(), random);
        check(family, separate);
      }
}

TEST_CASE("attention kernels: masks, huge scores, NaN that stays in its row") {
  Random random(4);
  const formats::Csr a = matrix(random);
  const Family& family = kScored[0];
  for (const double size : {1e4, -1e4, 0.0}) {
    HeadProblem p(*family.op, a, {}, 8, DType::f32, {}, random);
    p.sprinkle(runtime::kAttentionBias, 0.3, -HUGE_VAL, random);
    p.operands().alpha = size;
    check(family, p);
  }
  HeadProblem masked(*family.op, a, {}, 8, DType::f32, {}, random);
  masked.sprinkle(runtime::kAttentionBias, 2, -HUGE_VAL, random);
  check(family, masked);
  for (std::int64_t k = 0; k < a.rows * 8; ++k) CHECK(masked.number(runtime::kAttentionOut, k) == 0);
  for (const double bad : {static_cast<double>(NAN), HUGE_VAL})
    for (const std::int64_t row : {4, 11}) {  // short, and in pieces
      HeadProblem p(*family.op, a, {}, 8, DType::f32, {}, random);
      p.set(runtime::kAttentionX, row * 8 + 3, bad);
      check(family, p);
      for (std::int64_t k = 0; k < a.rows * 8; ++k)
        CHECK(std::isnan(p.number(runtime::kAttentionOut, k)) == (k / 8 == row && a.view().row_nnz(row) > 0));
    }
}

TEST_CASE("softmax kernels: every type, short rows, long ones and those of a block") {
  Random random(7);
  const formats::Csr sparse = random_matrix(
      90, 40, DType::none, random, [](std::int64_t r, std::int64_t) { return r % 7 == 0 ? 0.0 : 0.1; });
  const formats::Csr a = random_matrix(9, 5000, DType::none, random, [](std::int64_t r, std::int64_t) {
    return r == 3 ? 0.9 : r == 4 ? 0.2 : r == 5 ? 0.0 : 0.01;
  });
  const formats::Csr mixed = random_matrix(300, 1000, DType::none, random, [](std::int64_t r, std::int64_t) {
    return r == 3 ? 0.9 : r == 4 ? 0.2 : 0.003;
  });
  for (const Family& family : kSoftmax)
    for (const runtime::DenseTypes& types : kAllDenseTypes)
      for (const formats::Csr* m : {&sparse, &a, &mixed}) {
        HeadProblem p(*family.op, *m, {}, 1, types, {2, 5}, random);
        p.operands().alpha = -1.5;
        check(family, p);
      }
}

TEST_CASE("softmax kernels: masks, huge numbers, NaN that stays in its row, matrices without entries") {
  Random random(8);
  const formats::Csr a = matrix(random);
  const Family& family = kSoftmax[0];
  for (const double size : {1e4, 1.0}) {
    HeadProblem p(*family.op, a, {}, 1, DType::f32, {}, random);
    p.sprinkle(0, 0.4, -HUGE_VAL, random);
    p.operands().alpha = size;
    check(family, p);
  }
  HeadProblem masked(*family.op, a, {}, 1, DType::f32, {}, random);
  masked.sprinkle(0, 2, -HUGE_VAL, random);
  check(family, masked);
  for (std::int64_t k = 0; k < a.nnz(); ++k) CHECK(masked.number(1, k) == 0);
  for (const double bad : {static_cast<double>(NAN), HUGE_VAL}) {
    HeadProblem p(*family.op, a, {}, 1, DType::f32, {}, random);
    p.set(0, a.row_ptr[11], bad);
    check(family, p);
    for (std::int64_t k = 0; k < a.nnz(); ++k)
      CHECK(std::isnan(p.number(1, k)) == (k >= a.row_ptr[11] && k < a.row_ptr[12]));
  }
  for (const auto& [rows, cols] : {std::pair{0, 5}, {5, 0}, {7, 9}}) {
    const formats::Csr none = random_matrix(rows, cols, 0, DType::f32, random);
    for (const Family& each : kSoftmax) {
      HeadProblem p(*each.op, none, {}, 1, DType::f32, {2}, random);
      check(each, p);
    }
  }
}
