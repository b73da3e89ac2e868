// Plans that choose their format, and predictions, through the C and C++ interfaces.
#include <doctest/doctest.h>
#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "sptile.h"
#include "sptile.hpp"
#include "tests/bundle_sample.hpp"
#include "tests/runtime/capi/small_matrix.hpp"
#include "tests/temporary_folder.hpp"

using namespace sptile::test;

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
    for (const char* isa : {"generic", "avx2", "avx512", "neon", "sve"})
      profile << "number cpu.csr." << isa << " fp32 launch 7\nnumber cpu.bittcf." << isa
              << " fp32 launch 5\n";
    ::setenv("SPTILE_PROFILE", (folder / "profile.tsv").c_str(), 1);
  }
  ~Choice() { ::unsetenv("SPTILE_PROFILE"); }
};

sptile_matrix* open(const Choice& choice) {
  sptile_matrix* matrix = nullptr;
  REQUIRE(sptile_matrix_open(choice.path.c_str(), nullptr, &matrix) == SPTILE_STATUS_OK);
  return matrix;
}

std::string format_of(sptile_matrix* matrix, const char* formats) {
  const sptile_plan_options options = options_for(4, formats);
  sptile_plan* plan = nullptr;
  if (sptile_plan_create(matrix, "spmm", &options, &plan) != SPTILE_STATUS_OK) return sptile_last_error();
  const std::string format = describe(plan).format;
  sptile_plan_destroy(plan);
  return format;
}

}  // namespace

TEST_CASE("C interface: a plan chooses among the formats of a bundle") {
  const Choice choice;
  sptile_matrix* const matrix = open(choice);
  CHECK(format_of(matrix, nullptr) == "bittcf");
  CHECK(format_of(matrix, "auto") == "bittcf");
  CHECK(format_of(matrix, "csr,bittcf") == "bittcf");
  CHECK(format_of(matrix, "csr") == "csr");
  CHECK(format_of(matrix, "csr,tall").find("has no format tall") != std::string::npos);
  CHECK(format_of(matrix, "csr,").find("unknown format") != std::string::npos);
  ::unsetenv("SPTILE_PROFILE");
  CHECK(format_of(matrix, nullptr) == "csr");
  sptile_matrix_destroy(matrix);
}

TEST_CASE("C interface: predictions, also into larger elements and shorter lists") {
  const Choice choice;
  sptile_matrix* const matrix = open(choice);
  sptile_plan_options options = options_for(4);
  int count = 0;
  CHECK(sptile_predict(matrix, "spmm", &options, nullptr, sizeof(sptile_prediction), 0, &count) ==
        SPTILE_STATUS_OK);
  REQUIRE(count == 2);
  struct Larger {
    sptile_prediction now;
    long later = 1;
  };
  std::vector<Larger> list(2);
  CHECK(sptile_predict(matrix, "spmm", &options, &list[0].now, sizeof(Larger), 2, &count) ==
        SPTILE_STATUS_OK);
  CHECK(std::string(list[0].now.format) == "csr");
  CHECK(list[0].now.microseconds == 7);
  CHECK(list[0].now.usable == 1);
  CHECK(list[0].now.chosen == 0);
  CHECK(std::strncmp(list[1].now.kernel, "cpu.bittcf.", 11) == 0);
  CHECK(list[1].now.precision == SPTILE_PRECISION_FP32);
  CHECK(list[1].now.chosen == 1);
  CHECK(list[1].later == 0);
  const auto call = [&](sptile_prediction* out, std::size_t size, int capacity, int* number) {
    return sptile_predict(matrix, "spmm", &options, out, size, capacity, number);
  };
  sptile_prediction one;
  CHECK(call(&one, sizeof one, 1, &count) == SPTILE_STATUS_OK);
  CHECK(count == 2);
  CHECK(call(&one, sizeof one, 1, nullptr) == SPTILE_STATUS_USAGE);
  CHECK(call(&one, 8, 1, &count) == SPTILE_STATUS_USAGE);
  CHECK(call(&one, sizeof one, -1, &count) == SPTILE_STATUS_USAGE);
  CHECK(call(nullptr, sizeof one, 1, &count) == SPTILE_STATUS_USAGE);
  CHECK(sptile_predict(matrix, "none", &options, &one, sizeof one, 1, &count) == SPTILE_STATUS_USAGE);
  CHECK(sptile_predict(nullptr, "spmm", &options, &one, sizeof one, 1, &count) == SPTILE_STATUS_USAGE);
  options.n = 0;
  CHECK(call(&one, sizeof one, 1, &count) == SPTILE_STATUS_USAGE);
  sptile_matrix_destroy(matrix);
}

TEST_CASE("C++ interface: plans that choose, and what they choose from") {
  const Choice choice;
  sptile::Matrix matrix(choice.path);
  CHECK(matrix.plan("spmm", {.n = 4}).format() == "bittcf");
  CHECK(matrix.plan("spmm", {.n = 4, .format = "csr"}).format() == "csr");
  const std::vector<sptile::Prediction> list = matrix.predict("spmm", {.n = 4});
  REQUIRE(list.size() == 2);
  CHECK(list[0].format == "csr");
  CHECK_FALSE(list[0].chosen);
  CHECK(list[1].chosen);
  CHECK(list[1].microseconds == 5);
  CHECK(list[1].precision == sptile::Precision::fp32);
  CHECK(matrix.predict("spmm", {.n = 4, .format = "csr"}).size() == 1);
  const auto refused = matrix.predict("spmm", {.n = 4, .dense = sptile::Type::f16});
  CHECK_FALSE(refused[0].usable);
  CHECK(refused[0].microseconds < 0);
}

TEST_CASE("C interface: a plan may measure what it chooses from") {
  const Choice choice;
  sptile_matrix* const matrix = open(choice);
  sptile_plan_options options = options_for(4);
  const sptile_attribute measured = {"choice", SPTILE_CHOICE_MEASURED};
  options.attributes = &measured;
  options.attribute_count = 1;
  sptile_plan* plan = nullptr;
  for (const char* operation : {"spmm", "sddmm"}) {
    options.format = "auto";
    REQUIRE(sptile_plan_create(matrix, operation, &options, &plan) == SPTILE_STATUS_OK);
    const std::string format = describe(plan).format;
    CHECK((format == "csr" || format == "bittcf"));
    sptile_plan_destroy(plan);
    options.format = "bittcf";
    CHECK(sptile_plan_create(matrix, operation, &options, &plan) == SPTILE_STATUS_OK);
    sptile_plan_destroy(plan);
  }
  options.format = nullptr;
  options.n = std::int64_t{1} << 40;  // operands of some terabytes
  CHECK(sptile_plan_create(matrix, "spmm", &options, &plan) == SPTILE_STATUS_IO);
  CHECK(says("bytes of operands for measurements"));
  sptile_matrix_destroy(matrix);
}

TEST_CASE("C++ interface: a plan may measure what it chooses from") {
  const Choice choice;
  sptile::Matrix matrix(choice.path);
  const sptile::PlanOptions options = {.n = 2, .attributes = {{"choice", SPTILE_CHOICE_MEASURED}}};
  const sptile::Plan plan = matrix.plan("spmm", options);
  std::vector<float> b(5 * 2, 1), c(3 * 2);
  plan.run(b, c);
  CHECK(c == std::vector<float>{3, 3, 0, 0, 12, 12});
  CHECK(matrix.plan("sddmm", options).entries() == 5);
}

TEST_CASE("C interface: a measured choice is kept, and used until it is measured again") {
  const Choice choice;
  const std::string cache = choice.folder / "cache";
  const auto measured = [&](double replan) {
    const sptile_attribute attributes[] = {{"choice", SPTILE_CHOICE_MEASURED}, {"replan", replan}};
    sptile_plan_options options = options_for(4, "csr,bittcf");
    options.attributes = attributes;
    options.attribute_count = 2;
    sptile_matrix* const matrix = open(choice);
    sptile_plan* plan = nullptr;
    REQUIRE(sptile_plan_create(matrix, "spmm", &options, &plan) == SPTILE_STATUS_OK);
    const sptile_plan_info info = describe(plan);
    sptile_plan_destroy(plan);
    sptile_matrix_destroy(matrix);
    return std::string(info.format) + "\t" + info.kernel;
  };
  const auto lines = [&] {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(cache)) {
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line);) found.push_back(line);
    }
    return found;
  };
  const auto replace = [&](const std::string& text) {
    for (const auto& entry : std::filesystem::directory_iterator(cache)) std::ofstream(entry.path()) << text;
  };

  ::setenv("SPTILE_CACHE", cache.c_str(), 1);
  const std::string first = measured(0);
  REQUIRE(lines().size() == 1);
  const std::string key = lines()[0].substr(0, 17);  // with the tab
  CHECK(lines()[0] == key + first);
  // Whatever was kept is used.
  const bool is_csr = first.starts_with("csr");
  sptile_matrix* const matrix = open(choice);
  const sptile_plan_options options = options_for(4, is_csr ? "bittcf" : "csr");
  sptile_plan* plan = nullptr;
  REQUIRE(sptile_plan_create(matrix, "spmm", &options, &plan) == SPTILE_STATUS_OK);
  const std::string other = std::string(describe(plan).format) + "\t" + describe(plan).kernel;
  sptile_plan_destroy(plan);
  sptile_matrix_destroy(matrix);
  replace(key + other + "\n");
  CHECK(measured(0) == other);
  CHECK(lines().size() == 1);  // nothing was measured
  replace(key + first + "\n" + key + other + "\n");
  CHECK(measured(0) == other);  // the last one
  CHECK(measured(1).size() > 0);
  CHECK(lines().size() == 3);  // measured again
  // Damaged files cost no more than a measurement.
  for (const std::string& text : {key + "bmat\tcpu.bmat.generic\n", key + "csr\tno.such\n", key, key + "\n",
                                  std::string(1 << 21, 'x'), std::string(100, '\0')}) {
    replace(text);
    CHECK_FALSE(measured(0).empty());
    CHECK(lines().back().starts_with(key));
    CHECK(std::filesystem::file_size(std::filesystem::directory_iterator(cache)->path()) < (1 << 20));
  }
  ::setenv("SPTILE_CACHE", "off", 1);
  std::filesystem::remove_all(cache);
  CHECK_FALSE(measured(0).empty());
  CHECK_FALSE(std::filesystem::exists(cache));
  ::setenv("SPTILE_CACHE", (choice.path + "/no/directory").c_str(), 1);
  CHECK_FALSE(measured(0).empty());
  ::setenv("SPTILE_CACHE", "off", 1);
}
