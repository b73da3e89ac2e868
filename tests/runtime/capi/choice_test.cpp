// Plans that choose their format, and predictions, through the C and C++ interfaces.
#include <doctest/doctest.h>
#include <stdlib.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "sptile.h"
#include "sptile.hpp"
#include "tests/bundle_sample.hpp"
#include "tests/temporary_folder.hpp"

namespace {

/// A bundle with csr and bittcf, and a profile by which bittcf is the faster one.
struct Choice {
  sptile::TemporaryFolder folder;
  std::string path = folder / "a.h5";

  Choice() {
    REQUIRE(sptile::BundleSample().write(path).has_value());
    ::setenv("XDG_CONFIG_HOME", folder.path().c_str(), 1);
    std::ofstream profile(folder / "profile.tsv");
    profile << "sptile-profile 1\ndevice cpu 0 test\n";
    for (const char* isa : {"generic", "avx2", "avx512"})
      profile << "number cpu.csr." << isa << " fp32 launch 7\nnumber cpu.bittcf." << isa
              << " fp32 launch 5\n";
    ::setenv("SPTILE_PROFILE", (folder / "profile.tsv").c_str(), 1);
  }
  ~Choice() { ::unsetenv("SPTILE_PROFILE"); }
};

std::string format_of(const sptile_bundle* bundle, const char* formats) {
  sptile_spmm_options options;
  REQUIRE(sptile_spmm_options_init(&options, sizeof options) == SPTILE_OK);
  options.n = 4;
  sptile_plan* plan = nullptr;
  if (sptile_plan_spmm(bundle, formats, &options, &plan) != SPTILE_OK) return sptile_last_error();
  const char* name = nullptr;
  CHECK(sptile_plan_format(plan, &name) == SPTILE_OK);
  const std::string format = name;
  sptile_plan_destroy(plan);
  return format;
}

}  // namespace

TEST_CASE("C interface: a plan chooses among the formats of a bundle") {
  const Choice choice;
  sptile_bundle* bundle = nullptr;
  REQUIRE(sptile_bundle_open(choice.path.c_str(), 0, &bundle) == SPTILE_OK);
  CHECK(format_of(bundle, nullptr) == "bittcf");
  CHECK(format_of(bundle, "auto") == "bittcf");
  CHECK(format_of(bundle, "csr,bittcf") == "bittcf");
  CHECK(format_of(bundle, "csr") == "csr");
  CHECK(format_of(bundle, "csr,tall").find("holds no format tall") != std::string::npos);
  CHECK(format_of(bundle, "csr,").find("holds no format") != std::string::npos);
  ::unsetenv("SPTILE_PROFILE");
  CHECK(format_of(bundle, nullptr) == "csr");
  sptile_bundle_close(bundle);
}

TEST_CASE("C interface: predictions, also into larger elements and shorter lists") {
  const Choice choice;
  sptile_bundle* bundle = nullptr;
  REQUIRE(sptile_bundle_open(choice.path.c_str(), 0, &bundle) == SPTILE_OK);
  sptile_spmm_options options;
  REQUIRE(sptile_spmm_options_init(&options, sizeof options) == SPTILE_OK);
  options.n = 4;
  int count = 0;
  CHECK(sptile_predict_spmm(bundle, nullptr, &options, nullptr, sizeof(sptile_prediction), 0, &count) ==
        SPTILE_OK);
  REQUIRE(count == 2);
  struct Larger {
    sptile_prediction now;
    long later = 1;
  };
  std::vector<Larger> list(2);
  CHECK(sptile_predict_spmm(bundle, "auto", &options, &list[0].now, sizeof(Larger), 2, &count) == SPTILE_OK);
  CHECK(std::string(list[0].now.format) == "csr");
  CHECK(list[0].now.microseconds == 7);
  CHECK(list[0].now.usable == 1);
  CHECK(list[0].now.chosen == 0);
  CHECK(std::strncmp(list[1].now.kernel, "cpu.bittcf.", 11) == 0);
  CHECK(list[1].now.precision == SPTILE_FP32);
  CHECK(list[1].now.chosen == 1);
  CHECK(list[1].later == 0);
  const auto call = [&](sptile_prediction* out, std::size_t size, int capacity, int* number) {
    return sptile_predict_spmm(bundle, nullptr, &options, out, size, capacity, number);
  };
  sptile_prediction one;
  CHECK(call(&one, sizeof one, 1, &count) == SPTILE_OK);
  CHECK(count == 2);
  CHECK(call(&one, sizeof one, 1, nullptr) == SPTILE_USAGE);
  CHECK(call(&one, 8, 1, &count) == SPTILE_USAGE);
  CHECK(call(&one, sizeof one, -1, &count) == SPTILE_USAGE);
  CHECK(call(nullptr, sizeof one, 1, &count) == SPTILE_USAGE);
  options.n = 0;
  CHECK(call(&one, sizeof one, 1, &count) == SPTILE_USAGE);
  CHECK(sptile_predict_spmm(nullptr, nullptr, &options, &one, sizeof one, 1, &count) == SPTILE_USAGE);
  const char* name = nullptr;
  CHECK(sptile_plan_format(nullptr, &name) == SPTILE_USAGE);
  sptile_bundle_close(bundle);
}

TEST_CASE("C++ interface: plans that choose, and what they choose from") {
  const Choice choice;
  const sptile::Bundle bundle(choice.path);
  CHECK(bundle.plan("auto", {.n = 4}).format() == "bittcf");
  CHECK(bundle.plan("csr", {.n = 4}).format() == "csr");
  const std::vector<sptile::Prediction> list = bundle.predict({.n = 4});
  REQUIRE(list.size() == 2);
  CHECK(list[0].format == "csr");
  CHECK_FALSE(list[0].chosen);
  CHECK(list[1].chosen);
  CHECK(list[1].microseconds == 5);
  CHECK(list[1].precision == sptile::Precision::fp32);
  CHECK(bundle.predict({.n = 4}, "csr").size() == 1);
  const auto refused = bundle.predict({.n = 4, .dense = sptile::Type::f16});
  CHECK_FALSE(refused[0].usable);
  CHECK(refused[0].microseconds < 0);
}

TEST_CASE("C interface: a plan may measure what it chooses from") {
  const Choice choice;
  sptile_bundle* bundle = nullptr;
  REQUIRE(sptile_bundle_open(choice.path.c_str(), 0, &bundle) == SPTILE_OK);
  sptile_spmm_options options;
  REQUIRE(sptile_spmm_options_init(&options, sizeof options) == SPTILE_OK);
  CHECK(options.choice == SPTILE_CHOICE_PREDICTED);
  options.n = 4;
  options.choice = SPTILE_CHOICE_MEASURED;
  for (auto* const make : {sptile_plan_spmm, sptile_plan_sddmm}) {
    sptile_plan* plan = nullptr;
    REQUIRE(make(bundle, "auto", &options, &plan) == SPTILE_OK);
    const char* name = nullptr;
    CHECK(sptile_plan_format(plan, &name) == SPTILE_OK);
    const std::string format = name;
    CHECK((format == "csr" || format == "bittcf"));
    sptile_plan_destroy(plan);
    plan = nullptr;
    CHECK(make(bundle, "bittcf", &options, &plan) == SPTILE_OK);
    sptile_plan_destroy(plan);
  }
  options.n = std::int64_t{1} << 40;  // operands of some terabytes
  sptile_plan* plan = nullptr;
  CHECK(sptile_plan_spmm(bundle, "auto", &options, &plan) == SPTILE_IO);
  CHECK(std::string(sptile_last_error()).find("bytes of operands to measure with") != std::string::npos);
  options.n = 4;
  options.choice = 2;
  CHECK(sptile_plan_spmm(bundle, "auto", &options, &plan) == SPTILE_USAGE);
  options.choice = 0;
  options.reserved = 1;
  CHECK(sptile_plan_spmm(bundle, "auto", &options, &plan) == SPTILE_USAGE);
  sptile_bundle_close(bundle);
}

TEST_CASE("C++ interface: a plan may measure what it chooses from") {
  const Choice choice;
  const sptile::Bundle bundle(choice.path);
  const sptile::PlanOptions options = {.n = 2, .choice = sptile::Choice::measured};
  const sptile::Plan plan = bundle.plan("auto", options);
  std::vector<float> b(5 * 2, 1), c(3 * 2);
  plan.run(b, c);
  CHECK(c == std::vector<float>{3, 3, 0, 0, 12, 12});
  CHECK(bundle.plan_sddmm("csr,bittcf", options).entries() == 5);
}
