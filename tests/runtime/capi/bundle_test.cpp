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
#include "tests/runtime/capi/small_matrix.hpp"
#include "tests/temporary_folder.hpp"

using namespace sptile;

namespace {

constexpr std::int64_t kN = 3;
const std::set<sptile_status> kRefusals{SPTILE_STATUS_OK, SPTILE_STATUS_USAGE, SPTILE_STATUS_BAD_INPUT,
                                        SPTILE_STATUS_UNSUPPORTED};

/// Every status must be one of these, and every refusal must say why.
bool expected(sptile_status status) {
  return kRefusals.contains(status) && (status == SPTILE_STATUS_OK || *sptile_last_error() != '\0');
}

void run(const sptile_plan* plan) {
  const sptile_plan_info info = test::describe(plan);
  if (std::max(info.rows, info.cols) > 1 << 20) return;
  // room for f64
  std::vector<double> x(static_cast<std::size_t>(info.rows * kN)),
      y(static_cast<std::size_t>(info.cols * kN)), out(static_cast<std::size_t>(info.entries));
  if (info.operation == std::string("sddmm"))
    CHECK(test::sddmm(plan, x.data(), y.data(), out.data(), 1, 0, true) == SPTILE_STATUS_OK);
  else
    CHECK(test::spmm(plan, y.data(), x.data()) == SPTILE_STATUS_OK);
}

void refresh(sptile_matrix* matrix, std::int64_t entries) {
  const std::vector<double> fresh(static_cast<std::size_t>(entries));
  for (const sptile_dtype type : {SPTILE_DTYPE_F16, SPTILE_DTYPE_BF16, SPTILE_DTYPE_F32, SPTILE_DTYPE_F64})
    CHECK(expected(test::refresh(matrix, fresh.data(), entries, nullptr, type)));
}

void plan_and_run(sptile_matrix* matrix, const char* format) {
  for (const sptile_dtype dense : {SPTILE_DTYPE_F32, SPTILE_DTYPE_F64})
    for (const char* operation : {"spmm", "sddmm"}) {
      sptile_plan_options options = test::options_for(kN, format);
      options.dense = dense;
      sptile_plan* plan = nullptr;
      CHECK(expected(sptile_plan_create(matrix, operation, &options, &plan)));
      if (plan != nullptr) run(plan);
      sptile_plan_destroy(plan);
    }
}

void use(sptile_matrix* matrix, bool refreshable) {
  sptile_matrix_info info = {};
  info.size = sizeof info;
  REQUIRE(sptile_matrix_describe(matrix, &info) == SPTILE_STATUS_OK);
  CHECK((info.value_dtype == SPTILE_DTYPE_NONE || info.value_dtype == SPTILE_DTYPE_F32 ||
         info.value_dtype == SPTILE_DTYPE_F64));
  for (int i = 0; i < info.format_count; ++i) {
    const char* name = nullptr;
    REQUIRE(sptile_matrix_format(matrix, i, &name) == SPTILE_STATUS_OK);
    plan_and_run(matrix, name);
  }
  plan_and_run(matrix, "auto");
  sptile_arrays arrays = SPTILE_ARRAYS_INIT;
  if (const sptile_status status = sptile_matrix_arrays(matrix, &arrays); status == SPTILE_STATUS_OK) {
    const auto* const col = static_cast<const std::int32_t*>(arrays.col);
    CHECK(static_cast<const std::int64_t*>(arrays.row)[arrays.rows] == arrays.nnz);
    CHECK(std::all_of(col, col + arrays.nnz, [&](std::int32_t c) { return c >= 0 && c < arrays.cols; }));
  } else {
    CHECK(status == SPTILE_STATUS_BAD_INPUT);
  }
  if (!refreshable) return;
  sptile_plan* plan = nullptr;  // a format to refresh
  const sptile_plan_options options = test::options_for(kN);
  CHECK(expected(sptile_plan_create(matrix, "spmm", &options, &plan)));
  refresh(matrix, info.nnz);
  if (plan != nullptr) run(plan);
  sptile_plan_destroy(plan);
}

/// True when the bundle could be opened.
bool use(const std::string& path, bool copy) {
  bool opened = false;
  for (const bool refreshable : {false, true}) {
    sptile_matrix_options options = SPTILE_MATRIX_OPTIONS_INIT;
    options.copy = copy ? 1 : 0;
    options.refreshable = refreshable ? 1 : 0;
    sptile_matrix* matrix = nullptr;
    CHECK(expected(sptile_matrix_open(path.c_str(), &options, &matrix)));
    opened = matrix != nullptr;
    if (opened) use(matrix, refreshable);
    sptile_matrix_destroy(matrix);
  }
  return opened;
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

TEST_CASE("a further matrix of a bundle is opened by its name") {
  const TemporaryFolder folder;
  const std::string path = folder / "two.h5";
  const BundleSample sample;
  auto writer = formats::BundleWriter::create(path, {});
  REQUIRE(writer);
  REQUIRE(writer->add_csr(sample.csr()));
  REQUIRE(writer->begin_matrix("halo"));
  const std::int64_t row_ptr[] = {0, 1};
  const std::int32_t col_idx[] = {1};
  const float value = 4;
  REQUIRE(writer->add_csr({1, 2, row_ptr, col_idx, {DType::f32, &value, 1}}));
  REQUIRE(writer->commit());

  sptile_matrix_options options = SPTILE_MATRIX_OPTIONS_INIT;
  options.matrix = "halo";
  sptile_matrix* matrix = nullptr;
  REQUIRE(sptile_matrix_open(path.c_str(), &options, &matrix) == SPTILE_STATUS_OK);
  const sptile_plan_options of_plan = test::options_for(1);
  sptile_plan* plan = nullptr;
  REQUIRE(sptile_plan_create(matrix, "spmm", &of_plan, &plan) == SPTILE_STATUS_OK);
  const float x[] = {3, 5};
  float y[] = {0};
  CHECK(test::spmm(plan, x, y) == SPTILE_STATUS_OK);
  CHECK(y[0] == 20);
  sptile_plan_destroy(plan);
  sptile_matrix_destroy(matrix);

  options.matrix = "ghost";
  CHECK(sptile_matrix_open(path.c_str(), &options, &matrix) == SPTILE_STATUS_BAD_INPUT);
  CHECK(test::says("ghost: /shape is missing"));
  const test::Small small;
  const sptile_arrays arrays = small.arrays();
  CHECK(sptile_matrix_create(&arrays, &options, nullptr, &matrix) == SPTILE_STATUS_USAGE);
  CHECK(test::says("options.matrix"));
}
