// Keys of plans, and plans that are stored; bundles are in bundle/stored_plans_test.cpp, what comes back of
// schedules in cuda/stored_schedule_test.cpp.
#include "runtime/plan/stored.hpp"

#include <doctest/doctest.h>

#include <set>

#include "formats/layout/bundle_layout.hpp"
#include "runtime/core/attributes.hpp"
#include "runtime/cuda/families/sddmm/schedule.hpp"
#include "runtime/operation/sddmm.hpp"
#include "runtime/operation/spmm.hpp"
#include "runtime/plan/plan_key.hpp"
#include "tests/runtime/random_problem.hpp"

using namespace sptile;
using namespace sptile::test;
using namespace sptile::runtime;

namespace {

/// A kernel that is never launched.
constexpr cuda::DeviceKernel kInstance = {.kernel = "cuda.csr.sddmm",
                                          .values = DType::none,
                                          .dense = DType::f32,
                                          .precision = Precision::fp32,
                                          .capability = 80,
                                          .ieee = true,
                                          .schedule = cuda::schedule_sddmm,
                                          .launch = nullptr,
                                          .any_values = true,
                                          .prepare = nullptr,
                                          .store = &cuda::kSddmmStore};
const Kernel kKernel = {.name = "cuda.csr.sddmm",
                        .op = &kSddmm,
                        .format = "csr",
                        .device = Device::cuda,
                        .isa = "sm_80",
                        .summary = "not there"};

cuda::DeviceInfo device() {
  return {.capability = 90, .sm_count = 132, .l2_bytes = 50 << 20, .shared_per_block = 227 << 10};
}

PlanOptions options(std::int64_t n = 64, const Variant& variant = {}) {
  return {.n = n, .device = Device::cuda, .variant = variant};
}

formats::Csr sample() {
  Random random(1);
  return random_matrix(60, 50, 0.2, DType::f32, random);
}

/// As a bundle would give it.
StoredPlan as_stored(const PlanToStore& plan) {
  const auto numbers = std::as_bytes(std::span(plan.numbers));
  return {.name = "/plans/0000",
          .key = plan.key,
          .schedule = {plan.numbers, plan.schedule},
          .numbers_hash = formats::bundle_hash(numbers.data(), numbers.size()),
          .bytes_hash = formats::bundle_hash(plan.schedule.data(), plan.schedule.size())};
}

}  // namespace

TEST_CASE("plan keys: say what a plan is") {
  const formats::Csr a = sample();
  const Formatted csr = format_matrix(a, "csr");
  const auto plan = plan_to_store(kSddmm, csr.matrix(), {&kKernel, &kInstance}, options(), device());
  REQUIRE(plan);
  const StoredPlan stored = as_stored(*plan);
  CHECK(stored.key.starts_with("sptile-plan 1\n"));
  for (const auto& [name, value] : {std::pair("op", "sddmm"),
                                    {"format", "csr"},
                                    {"kernel", "cuda.csr.sddmm"},
                                    {"n", "64"},
                                    {"values", "f32"},
                                    {"dense", "f32"},
                                    {"precision", "fp32"},
                                    {"device", "cuda"},
                                    {"capability", "90"},
                                    {"multiprocessors", "132"},
                                    {"l2_bytes", "52428800"},
                                    {"version", "1"}}) {
    CHECK(std::string(name) + " " + std::string(stored.field(name)) ==
          std::string(name) + " " + std::string(value));
  }
}

TEST_CASE("plan keys: differ when anything differs that divides the work") {
  const formats::Csr a = sample();
  const Formatted csr = format_matrix(a, "csr"), bmat = format_matrix(a, "bmat");
  const PlanMatrix view = csr.matrix();
  const KernelChoice kernel{&kKernel, &kInstance};
  std::set<std::string> keys;
  std::size_t count = 0;
  const auto add = [&](const std::string& key) {
    keys.insert(key);
    ++count;
  };
  add(plan_key(kSddmm, view, kernel, options(), device()));
  add(plan_key(kSpmm, view, kernel, options(), device()));
  add(plan_key(kSddmm, bmat.matrix(), kernel, options(), device()));
  add(plan_key(kSddmm, view, kernel, options(65), device()));
  PlanMatrix turned = view;
  turned.own_transpose = true;
  add(plan_key(kSddmm, turned, kernel, options(), device()));
  for (const auto change :
       {+[](cuda::DeviceInfo& d) { d.capability = 80; }, +[](cuda::DeviceInfo& d) { d.sm_count = 1; },
        +[](cuda::DeviceInfo& d) { d.l2_bytes = 1; }, +[](cuda::DeviceInfo& d) { d.shared_per_block = 1; }}) {
    cuda::DeviceInfo other = device();
    change(other);
    add(plan_key(kSddmm, view, kernel, options(), other));
  }
  cuda::ScheduleStore newer = cuda::kSddmmStore;
  ++newer.version;
  PlanOptions narrow = options();
  narrow.dense = DType::f16;
  add(plan_key(kSddmm, view, kernel, narrow, device()));
  narrow.result = DType::f32;
  add(plan_key(kSddmm, view, kernel, narrow, device()));
  cuda::DeviceKernel other = kInstance;
  other.precision = Precision::tf32;
  add(plan_key(kSddmm, view, {&kKernel, &other}, options(), device()));
  other.store = &newer;
  add(plan_key(kSddmm, view, {&kKernel, &other}, options(), device()));
  CHECK(keys.size() == count);
}

TEST_CASE("plan keys: differ when any attribute differs, and have lines for those that are not defaults") {
  const formats::Csr a = sample();
  const Formatted csr = format_matrix(a, "csr");
  const auto key = [&](const Variant& variant) {
    return plan_key(kSddmm, csr.matrix(), {&kKernel, &kInstance}, options(64, variant), device());
  };
  struct Changed {
    std::string_view line;
    Variant variant;
  };
  const Changed changed[] = {{"m 17", {.m = 17}},
                             {"heads 3", {.heads = 3}},
                             {"activation relu", {.activation = Activation::relu}},
                             {"score cosine", {.score = Score::cosine}},
                             {"score additive", {.score = Score::additive}},
                             {"transposed_weights 1", {.transposed_weights = true}}};
  const std::string standard = key({});
  std::set<std::string> keys = {standard}, names;
  for (const Changed& one : changed) {
    const std::string other = key(one.variant), line = std::string(one.line) + "\n";
    const std::size_t at = other.find("\n" + line);
    REQUIRE(at != std::string::npos);
    CHECK(std::string(other).erase(at + 1, line.size()) == standard);
    keys.insert(other);
    names.emplace(one.line.substr(0, one.line.find(' ')));
  }
  CHECK(keys.size() == 1 + std::size(changed));
  for (const Attribute& attribute : attributes())
    CHECK(names.count(std::string(attribute.name)) == (attribute.in_plan_key ? 1 : 0));
  CHECK(key({.m = 64}) == standard);
}

TEST_CASE("plan keys: those of bundles that were stored without attributes") {
  const formats::Csr a = sample();
  const Formatted csr = format_matrix(a, "csr");
  CHECK(
      plan_key(kSddmm, csr.matrix(), {&kKernel, &kInstance}, options(), device()) ==
      "sptile-plan 1\nop sddmm\nside matrix\nformat csr\nkernel cuda.csr.sddmm\nversion 1\nn 64\nvalues f32\n"
      "dense f32\nresult f32\nprecision fp32\ndevice cuda\ncapability 90\nmultiprocessors 132\n"
      "l2_bytes 52428800\nshared_bytes 232448\n");
}

TEST_CASE("plans to store: the schedule of a kernel that has a store") {
  const formats::Csr a = sample();
  const Formatted csr = format_matrix(a, "csr");
  const auto plan = plan_to_store(kSddmm, csr.matrix(), {&kKernel, &kInstance}, options(), device());
  REQUIRE(plan);
  const formats::FormatView view = csr.data.view();
  const auto restored = cuda::kSddmmStore.restore({view, 64, device()}, {plan->numbers, plan->schedule});
  CHECK(restored);
  cuda::DeviceKernel without = kInstance;
  without.store = nullptr;
  const auto refused = plan_to_store(kSddmm, csr.matrix(), {&kKernel, &without}, options(), device());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Errc::unsupported);
}

TEST_CASE("plans to take: a checksum that differs is refused with the plan's name") {
  const formats::Csr a = sample();
  const Formatted csr = format_matrix(a, "csr");
  auto plan = plan_to_store(kSddmm, csr.matrix(), {&kKernel, &kInstance}, options(), device());
  REQUIRE(plan);
  plan->numbers = {1};
  const StoredPlan stored = as_stored(*plan);
  CHECK(check_hashes(stored));
  plan->schedule[0] ^= std::byte{1};
  const Status damaged = check_hashes(stored);
  REQUIRE_FALSE(damaged);
  CHECK(damaged.error().code == Errc::bad_input);
  CHECK(damaged.error().message.find("/plans/0000") != std::string::npos);
  plan->schedule[0] ^= std::byte{1};
  plan->numbers[0] = 2;
  CHECK_FALSE(check_hashes(stored));
}
