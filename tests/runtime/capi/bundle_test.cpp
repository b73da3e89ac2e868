// Forged bundles with right checksums through the C interface: refused, or safe to use. Sanitizers see the
// rest.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "sptile.h"
#include "tests/bundle_sample.hpp"
#include "tests/mutate_bundle.hpp"
#include "tests/temporary_folder.hpp"

using namespace sptile;

namespace {

constexpr std::int64_t kN = 3;
const std::set<sptile_status> kRefusals{SPTILE_OK, SPTILE_USAGE, SPTILE_BAD_INPUT, SPTILE_UNSUPPORTED};

/// Every status must be one of these, and every refusal must say why.
bool expected(sptile_status status) {
  return kRefusals.contains(status) && (status == SPTILE_OK || *sptile_last_error() != '\0');
}

sptile_plan_options options_for(sptile_dtype dense, bool refreshable) {
  sptile_plan_options options;
  REQUIRE(sptile_spmm_options_init(&options, sizeof options) == SPTILE_OK);
  options.n = kN;
  options.dense = dense;
  options.refreshable = refreshable ? 1 : 0;
  return options;
}

void run(const sptile_plan* plan, bool sddmm) {
  std::int64_t rows = 0, cols = 0, entries = 0;
  REQUIRE(sptile_plan_shape(plan, &rows, &cols, nullptr) == SPTILE_OK);
  REQUIRE(sptile_plan_entries(plan, &entries) == SPTILE_OK);
  if (std::max(rows, cols) > 1 << 20) return;
  // room for f64
  std::vector<double> x(static_cast<std::size_t>(rows * kN)), y(static_cast<std::size_t>(cols * kN)),
      out(static_cast<std::size_t>(entries));
  if (sddmm)
    CHECK(sptile_sddmm(plan, 1, x.data(), kN, y.data(), kN, 0, out.data(), 1) == SPTILE_OK);
  else
    CHECK(sptile_spmm(plan, 1, y.data(), kN, 0, x.data(), kN) == SPTILE_OK);
}

void refresh(sptile_plan* plan, std::int64_t entries) {
  const std::vector<double> fresh(static_cast<std::size_t>(entries));
  for (const sptile_dtype type : {SPTILE_F16, SPTILE_BF16, SPTILE_F32, SPTILE_F64})
    CHECK(expected(sptile_plan_refresh(plan, fresh.data(), type, entries)));
}

void plan_and_run(const sptile_bundle* bundle, const char* format, std::int64_t entries) {
  for (const sptile_dtype dense : {SPTILE_F32, SPTILE_F64})
    for (const bool again : {false, true}) {
      const sptile_plan_options options = options_for(dense, again);
      sptile_plan* plan = nullptr;
      CHECK(expected(sptile_plan_spmm(bundle, format, &options, &plan)));
      if (plan != nullptr) run(plan, false);
      if (plan != nullptr && again) refresh(plan, entries);
      sptile_plan_destroy(plan);
      plan = nullptr;
      CHECK(expected(sptile_plan_sddmm(bundle, format, &options, &plan)));
      if (plan != nullptr) run(plan, true);
      sptile_plan_destroy(plan);
    }
}

/// True when the bundle could be opened.
bool use(const std::string& path, bool copy) {
  sptile_bundle* bundle = nullptr;
  CHECK(expected(sptile_bundle_open(path.c_str(), copy ? 1 : 0, &bundle)));
  if (bundle == nullptr) return false;
  std::int64_t entries = 0;
  int formats = 0;
  sptile_dtype dtype = SPTILE_NONE;
  CHECK(sptile_bundle_shape(bundle, nullptr, nullptr, &entries) == SPTILE_OK);
  CHECK(sptile_bundle_dtype(bundle, &dtype) == SPTILE_OK);
  CHECK((dtype == SPTILE_NONE || dtype == SPTILE_F32 || dtype == SPTILE_F64));
  CHECK(sptile_bundle_format_count(bundle, &formats) == SPTILE_OK);
  for (int i = 0; i < formats; ++i) {
    const char* name = nullptr;
    REQUIRE(sptile_bundle_format_name(bundle, i, &name) == SPTILE_OK);
    plan_and_run(bundle, name, entries);
  }
  plan_and_run(bundle, "auto", entries);
  sptile_bundle_close(bundle);
  return true;
}

}  // namespace

TEST_CASE("C interface: forged bundles are refused with a reason, or safe to plan, run and refresh") {
  const TemporaryFolder folder;
  const std::string path = folder / "forged.h5";
  std::mt19937 random(1);
  int opened = 0;
  for (const DType values : {DType::f32, DType::f16, DType::none}) {
    REQUIRE(BundleSample(values == DType::none ? values : DType::f32, values)
                .write(folder / (std::string(name_of(values)) + ".h5"), {.user_block = 4096}));
    const auto original = bytes_of(folder / (std::string(name_of(values)) + ".h5"));
    for (int i = 0; i < 200; ++i) {
      std::vector<std::byte> bundle = original;
      const std::string done = forge(bundle, random);
      CAPTURE(done);
      std::ofstream(path, std::ios::binary)
          .write(reinterpret_cast<const char*>(bundle.data()), static_cast<std::streamsize>(bundle.size()));
      opened += use(path, i % 2 == 0) ? 1 : 0;
    }
  }
  CHECK(opened > 100);
  CHECK(opened < 600);
}
