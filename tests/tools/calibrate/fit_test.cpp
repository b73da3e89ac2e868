// Fits of made-up measurements whose costs are known.
#include "tools/calibrate/fit.hpp"

#include <doctest/doctest.h>

#include <random>

using namespace sptile;
using namespace sptile::tools;

namespace {

/// Times made of 3 us and 0.5 us/MB (csr), and 5 us and 0.2 us/MB (bmat).
std::vector<Sample> made_up(int matrices) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> uniform(1, 100);
  std::vector<Sample> samples;
  for (int m = 0; m < matrices; ++m)
    for (const bool tiles : {false, true}) {
      Sample s{"m" + std::to_string(m), "spmm", "f32", tiles ? "bmat" : "csr", tiles ? "k.bmat" : "k.csr",
               tiles ? "tf32" : "fp32", 128};
      for (double& f : s.features) f = uniform(random);
      s.features[0] = 1;
      s.us = tiles ? 5 + 0.2 * s.features[1] : 3 + 0.5 * s.features[1];
      samples.push_back(s);
    }
  return samples;
}

runtime::DeviceProfile profile_of(std::span<const Sample> samples) {
  runtime::DeviceProfile profile;
  profile.device.name = "test";
  profile.numbers = fit_costs(samples);
  return profile;
}

}  // namespace

TEST_CASE("fit: finds the costs that the times were made of") {
  const auto samples = made_up(40);
  const auto profile = profile_of(samples);
  CHECK(*profile.find("k.csr", "fp32", "launch") == doctest::Approx(3));
  CHECK(*profile.find("k.csr", "fp32", "gather_mb") == doctest::Approx(0.5));
  CHECK(*profile.find("k.bmat", "tf32", "gather_mb") == doctest::Approx(0.2));
  CHECK(profile.find("k.bmat", "tf32", "memory_mb").value_or(0) == doctest::Approx(0).epsilon(1e-6));
  const auto fits = fit_quality(profile, samples);
  REQUIRE(fits.size() == 2);
  CHECK(fits[0].kernel == "k.bmat");
  CHECK(fits[0].samples == 40);
  CHECK(fits[0].median_error < 1e-6);
  CHECK(fits[0].lowest == doctest::Approx(1));
  CHECK(fits[0].highest == doctest::Approx(1));
  const ChoiceQuality choice = choice_quality(profile, samples);
  CHECK(choice.cases == 40);
  CHECK(choice.within_5 == 1);
  CHECK(choice.mean_regret == doctest::Approx(1));
  CHECK(choice.worst_case.empty());
}

TEST_CASE("fit: predictions that are too low are no better than those that are too high") {
  std::vector<Sample> samples;
  for (int i = 0; i < 30; ++i) {
    Sample s = made_up(1)[0];
    s.features = {1};
    s.us = i < 12 ? 1 : 4;  // the sum of relative errors has its minimum at 1
    samples.push_back(s);
  }
  CHECK(*profile_of(samples).find(samples[0].kernel, samples[0].precision, "launch") ==
        doctest::Approx(4).epsilon(0.05));
}

TEST_CASE("fit: a precision with few samples is a multiple of another one") {
  auto samples = made_up(40);
  for (int i = 0; i < 3; ++i) {
    Sample s = samples[static_cast<std::size_t>(2 * i + 1)];
    s.precision = "fp32";
    s.dense = "f32 exact";
    s.us *= 1.5;
    samples.push_back(s);
  }
  const auto profile = profile_of(samples);
  CHECK(*profile.find("k.bmat", "fp32", "launch") == doctest::Approx(7.5));
  CHECK(*profile.find("k.bmat", "fp32", "gather_mb") == doctest::Approx(0.3));
}

TEST_CASE("fit: the regret of wrong choices") {
  const auto samples = made_up(40);
  auto profile = profile_of(samples);
  for (auto& number : profile.numbers)
    if (number.kernel == "k.csr") number.value = 0;  // seems to cost nothing
  const ChoiceQuality choice = choice_quality(profile, samples);
  CHECK(choice.within_10 < 1);
  CHECK(choice.worst_regret > 1.5);
  CHECK(choice.worst_case.find("csr instead of bmat") != std::string::npos);
}

TEST_CASE("fit: costs of a division of the work are those of its parts over a tile's") {
  const std::vector<runtime::ProfileNumber> fitted = {
      {"cuda.bmat.bulk", "tf32", "gather_mb", 0.1},  {"cuda.bmat.bulk", "tf32", "tiles_m", 590.4},
      {"cuda.bmat.bulk", "tf32", "memory_mb", 0.25}, {"cuda.bmat.bulk", "fp16", "memory_mb", 0.25},
      {"cuda.bmat.mma", "tf32", "units_m", 7},
  };
  const auto costs = partition_costs(fitted);  // a tile: 409.6e-6 + 590.4e-6 us; a window: 2048e-6 us
  REQUIRE(costs.size() == 1);
  CHECK(costs[0].name == "window_cost");
  CHECK(costs[0].precision == "tf32");
  CHECK(costs[0].value == doctest::Approx(2.048));
  CHECK(partition_costs({}).empty());
}
