// The terms of the cost model on a matrix small enough to count them by hand.
#include "runtime/choice/cost_features.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "formats/layout/csr.hpp"
#include "runtime/operation/sddmm.hpp"
#include "runtime/operation/softmax_rows.hpp"
#include "runtime/operation/spmm.hpp"
#include "tests/bundle_sample.hpp"

using namespace sptile;
using runtime::CostFeatures;

namespace {

/// Names instead of positions.
double feature(const CostFeatures& features, std::string_view name) {
  for (std::size_t i = 0; i < features.size(); ++i)
    if (runtime::kFeatures[i].name == name) return features[i];
  FAIL("no feature ", name);
  return 0;
}

CostFeatures spmm_features(const formats::FormatView& a, std::int64_t n, const runtime::DenseTypes& types,
                           const runtime::Caches& caches) {
  return runtime::cost_features(runtime::kSpmm, a, {.n = n, .m = n}, types, caches);
}

}  // namespace

TEST_CASE("cost features: everything fits into the caches") {
  const BundleSample sample;  // [. 1 . . 2 / . . . . . / 3 4 . 5 .]
  const CostFeatures f = spmm_features(formats::as_format(sample.csr()), 32, DType::f32, {128e3, 50e6});
  CHECK(feature(f, "launch") == 1);
  CHECK(feature(f, "gather_mb") == doctest::Approx(5 * 128e-6));
  CHECK(feature(f, "far_mb") == doctest::Approx(4 * 128e-6));  // four different columns
  CHECK(feature(f, "streamed_mb") == doctest::Approx(3 * 128e-6));
  CHECK(feature(f, "memory_mb") == 0);
  CHECK(feature(f, "entries_m") == doctest::Approx(5e-6));
  CHECK(feature(f, "tiles_m") == 0);
  CHECK(feature(f, "units_m") == doctest::Approx(3e-6));
  CHECK(feature(f, "longest_k") == doctest::Approx(3e-3));
  CHECK(feature(f, "partial_mb") == 0);
  CHECK(feature(f, "loads_m") == doctest::Approx(5e-6));
  CHECK(feature(f, "elements_m") == 0);
  CHECK(feature(f, "long_k") == doctest::Approx(3e-3 / 1.003));
}

TEST_CASE("cost features: rows of B whose bytes are not a multiple of 16, several heads") {
  const BundleSample sample;
  for (const std::int64_t n : {1, 6, 8}) {
    const CostFeatures f = runtime::cost_features(runtime::kSpmm, formats::as_format(sample.csr()),
                                                  {.n = n, .m = n, .heads = 3}, DType::f16, {});
    CHECK(feature(f, "loads_m") == doctest::Approx(15e-6));
    CHECK(feature(f, "elements_m") == doctest::Approx(n == 8 ? 0 : 15e-6 * static_cast<double>(n)));
  }
  const CostFeatures none = runtime::cost_features(runtime::kSoftmaxRows, formats::as_format(sample.csr()),
                                                   {.n = 1, .m = 1}, DType::f32, {});
  CHECK(feature(none, "loads_m") == 0);
}

TEST_CASE("cost features: caches for less than one row of B") {
  const BundleSample sample;
  const CostFeatures f = spmm_features(formats::as_format(sample.csr()), 32, DType::f32, {1, 100});
  CHECK(feature(f, "far_mb") == doctest::Approx(5 * 128e-6));
  const double format = 72, c = 3 * 128, b = 5 * 128;
  const double cold = 1 - 100 / (format + c + b);
  CHECK(feature(f, "memory_mb") == doctest::Approx(cold * (format + c + b) * 1e-6));
}

TEST_CASE("cost features: tiles, and slices of 512 bytes") {
  const BundleSample sample;
  const CostFeatures f = spmm_features(sample.bittcf(), 129, DType::f32, {128e3, 50e6});
  CHECK(feature(f, "gather_mb") == doctest::Approx(8 * 129 * 4e-6));
  CHECK(feature(f, "tiles_m") == doctest::Approx(2e-6));
  CHECK(feature(f, "entries_m") == doctest::Approx(10e-6));
  CHECK(feature(f, "units_m") == doctest::Approx(2e-6));
  CHECK(feature(f, "longest_k") == doctest::Approx(8e-3));
}

TEST_CASE("cost features: rows of B stay in the far cache a slice at a time") {
  // Three rows of B in turn: of slices of 512 bytes the cache has room for six, of whole rows for less than
  // two.
  std::vector<std::int64_t> row_ptr = {0};
  std::vector<std::int32_t> columns;
  for (std::int32_t i = 0; i < 300; ++i) {
    columns.push_back(i % 3);
    row_ptr.push_back(std::ssize(columns));
  }
  const formats::CsrView a{300, 3, row_ptr, columns, {}};
  const runtime::Caches caches{1, 6 * 512};
  const auto far_misses = [&](const runtime::Operation& op) {
    const CostFeatures f =
        runtime::cost_features(op, formats::as_format(a), {.n = 512, .m = 512}, DType::f32, caches);
    const double format = 8 * 301 + 4 * 300, goes_by = feature(f, "streamed_mb") * 1e6, b = 3 * 2048;
    const double cold = 1 - caches.far_bytes / (format + goes_by + b);
    return feature(f, "memory_mb") * 1e6 / cold - goes_by - format;
  };
  CHECK(far_misses(runtime::kSpmm) == doctest::Approx(3 * 2048));
  CHECK(far_misses(runtime::kSddmm) == doctest::Approx(300 * 2048));  // reads whole rows of Y
}

TEST_CASE("cost features: one long row in pieces") {
  const std::vector<std::int64_t> row_ptr = {0, 1000, 1001};  // pieces of 128: seven of the first row
  std::vector<std::int32_t> columns(1001, 0);
  for (std::size_t i = 0; i < 1000; ++i) columns[i] = static_cast<std::int32_t>(i);
  const formats::CsrView a{2, 1000, row_ptr, columns, {}};
  const CostFeatures f = spmm_features(formats::as_format(a), 32, DType::f32, {128e3, 50e6});
  CHECK(feature(f, "partial_mb") == doctest::Approx(7 * 128e-6));
  CHECK(feature(f, "longest_k") == doctest::Approx(1));
  CHECK(feature(f, "long_k") == doctest::Approx(0.5));
}

TEST_CASE("cost features: a result of another type is as large as it is") {
  const BundleSample sample;
  const formats::FormatView csr = formats::as_format(sample.csr());
  const runtime::DenseTypes wide(DType::f16, DType::f32);
  const double narrow = feature(spmm_features(csr, 32, DType::f16, {1, 1}), "memory_mb"),
               more = feature(spmm_features(csr, 32, wide, {1, 1}), "memory_mb");
  CHECK(more - narrow == doctest::Approx(3 * 32 * 2e-6).epsilon(1e-2));  // three rows of C
  CHECK(feature(spmm_features(csr, 32, wide, {1, 1}), "gather_mb") ==
        feature(spmm_features(csr, 32, DType::f16, {1, 1}), "gather_mb"));
  const auto sampled = [&](const runtime::DenseTypes& types) {
    return feature(runtime::cost_features(runtime::kSddmm, csr, {.n = 32, .m = 32}, types, {1, 1}),
                   "memory_mb");
  };
  CHECK(sampled(wide) - sampled(DType::f16) == doctest::Approx(5 * 2e-6).epsilon(1e-2));  // five entries
}

TEST_CASE("cost features: the largest N there can be") {
  const BundleSample sample;
  const CostFeatures f = spmm_features(sample.bittcf(), std::int64_t{1} << 40, DType::f64, {128e3, 50e6});
  for (const double x : f) CHECK(x >= 0);
}

TEST_CASE("cost features: SDDMM reads X, writes a number for each entry and decodes the format once") {
  const BundleSample sample;
  const auto count = [](const formats::FormatView& a, std::int64_t n, const runtime::Caches& caches) {
    return runtime::cost_features(runtime::kSddmm, a, {.n = n, .m = n}, DType::f32, caches);
  };
  const CostFeatures f = count(sample.bittcf(), 129, {128e3, 50e6});
  CHECK(feature(f, "gather_mb") == doctest::Approx(8 * 129 * 4e-6));
  CHECK(feature(f, "tiles_m") == doctest::Approx(1e-6));
  CHECK(feature(f, "entries_m") == doctest::Approx(5e-6));
  CHECK(feature(f, "units_m") == doctest::Approx(2e-6));
  const CostFeatures cold = count(formats::as_format(sample.csr()), 32, {1, 100});
  CHECK(feature(cold, "streamed_mb") == doctest::Approx((3 * 128 + 5 * 4) * 1e-6));
  const double format = 72, x = 3 * 128, y = 5 * 128, results = 5 * 4;
  const double share = 1 - 100 / (format + x + y + results);
  CHECK(feature(cold, "memory_mb") == doctest::Approx(share * (format + x + y + results) * 1e-6));
  // A long row is cut, but there is nothing to add up.
  const std::vector<std::int64_t> row_ptr = {0, 1000, 1001};
  const std::vector<std::int32_t> columns(1001, 0);
  const formats::CsrView a{2, 1000, row_ptr, columns, {}};
  CHECK(feature(count(formats::as_format(a), 1 << 20, {128e3, 50e6}), "partial_mb") == 0);
}

TEST_CASE("cost features: an operation without rows of B gathers nothing") {
  const BundleSample sample;
  const CostFeatures f = runtime::cost_features(runtime::kSoftmaxRows, formats::as_format(sample.csr()),
                                                {.n = 1, .m = 1}, DType::f32, {128e3, 50e6});
  CHECK(feature(f, "gather_mb") == 0);
  CHECK(feature(f, "far_mb") == 0);
}
