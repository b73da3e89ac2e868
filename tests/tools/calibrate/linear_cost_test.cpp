#include "tools/calibrate/linear_cost.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <span>
#include <string>

using namespace sptile;
using namespace sptile::tools;

namespace {

constexpr std::string_view kKernels[] = {"k.bulk"};

/// Times of 7 us, 300 us per million tiles and 900 us per million windows, plus normal noise.
std::vector<Sample> synthetic_samples(int count, double noise_us) {
  std::mt19937 random(3);
  const auto uniform = [&] { return static_cast<double>(random()) / 4294967296.0; };
  std::vector<Sample> samples;
  for (int i = 0; i < count; ++i) {
    Sample s{"m", "spmm", "f32", "bmat", "k.bulk", "tf32", 128};
    s.features[6] = uniform();
    s.features[7] = 0.2 * uniform();
    double noise = -6;
    for (int d = 0; d < 12; ++d) noise += uniform();
    s.us = 7 + 300 * s.features[6] + 900 * s.features[7] + noise_us * noise;
    samples.push_back(s);
  }
  return samples;
}

}  // namespace

TEST_CASE("equation 4: exact times give their coefficients and an R2 of 1") {
  REQUIRE(runtime::kFeatures[6].name == "tiles_m");
  REQUIRE(runtime::kFeatures[7].name == "units_m");
  const auto fits = fit_linear_costs(synthetic_samples(50, 0), kKernels);
  REQUIRE(fits.size() == 1);
  CHECK(fits[0].kernel == "k.bulk");
  CHECK(fits[0].precision == "tf32");
  CHECK(fits[0].us_per_million_tiles == doctest::Approx(300));
  CHECK(fits[0].us_per_million_windows == doctest::Approx(900));
  CHECK(fits[0].us_per_launch == doctest::Approx(7));
  CHECK(fits[0].training == 40);
  CHECK(fits[0].held_out == 10);
  CHECK(fits[0].training_r2 == doctest::Approx(1));
  CHECK(fits[0].held_out_r2 == doctest::Approx(1));
}

TEST_CASE("equation 4: noise lowers the R2 by its part of the variance") {
  // Variances: tiles 300^2 / 12 = 7500, windows (0.2 * 900)^2 / 12 = 2700, noise 51^2 = 2601.
  const auto fits = fit_linear_costs(synthetic_samples(4000, 51), kKernels);
  REQUIRE(fits.size() == 1);
  CHECK(fits[0].training_r2 == doctest::Approx(0.797).epsilon(0.03));
  CHECK(fits[0].held_out_r2 == doctest::Approx(0.797).epsilon(0.05));
  CHECK(fits[0].us_per_million_tiles == doctest::Approx(300).epsilon(0.1));
}

TEST_CASE("equation 4: the hold-out is a random fifth, not the last one") {
  // The last samples are far from linear: if they alone were held out, the training would be exact.
  auto samples = synthetic_samples(50, 0);
  for (std::size_t i = 40; i < 50; ++i) samples[i].us *= 3;
  const auto fits = fit_linear_costs(samples, kKernels);
  REQUIRE(fits.size() == 1);
  CHECK(fits[0].training_r2 < 0.99);
  CHECK(fit_linear_costs(samples, kKernels)[0].held_out_r2 == fits[0].held_out_r2);
}

TEST_CASE("equation 4: other kernels, few samples and proportional terms are omitted") {
  auto samples = synthetic_samples(50, 0);
  for (Sample& sample : samples) sample.kernel = "k.other";
  CHECK(fit_linear_costs(samples, kKernels).empty());
  CHECK(fit_linear_costs(synthetic_samples(14, 0), kKernels).empty());
  samples = synthetic_samples(50, 0);
  for (Sample& sample : samples) sample.features[7] = 2 * sample.features[6];
  CHECK(fit_linear_costs(samples, kKernels).empty());
}

TEST_CASE("equation 4: costs of the division are those of a regression that predicts held-out samples") {
  const std::vector<runtime::ProfileNumber> fitted = {{"cuda.bmat.bulk", "tf32", "tiles_m", 100},
                                                      {"cuda.bmat.bulk", "tf32", "units_m", 500}};
  const auto costs = [&](const LinearCost& fit) {
    std::string text;
    for (const auto& cost : division_costs(fitted, std::span(&fit, 1)))
      text += cost.name + " " + std::to_string(std::llround(cost.value)) + ", ";
    return text;
  };
  LinearCost fit{"cuda.bmat.bulk", "tf32", 300, 900, 6, 40, 10, 0.95, 0.92};
  CHECK(costs(fit) == "tile_cost 1, window_cost 3, fixed_cost 20000, ");
  fit.us_per_launch = -1;
  CHECK(costs(fit) == "tile_cost 1, window_cost 3, fixed_cost 0, ");
  fit.held_out_r2 = 0.89;
  CHECK(costs(fit) == "window_cost 5, ");
  fit.held_out_r2 = 1;
  fit.us_per_million_windows = -1;
  CHECK(costs(fit) == "window_cost 5, ");
  fit = {"k.other", "tf32", 100, 200, 0, 40, 10, 1, 1};
  CHECK(costs(fit) == "window_cost 5, tile_cost 1, window_cost 2, fixed_cost 0, ");
}
