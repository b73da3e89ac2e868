// Products with formats of two parts, split otherwise than the converter does: windows that need several
// groups of tiles and several pieces of rows.
#include "formats/convert/libra_spmm.hpp"

#include <doctest/doctest.h>

#include "formats/convert/hc_window.hpp"
#include "formats/convert/libra_sddmm.hpp"
#include "tests/runtime/all_threads.hpp"
#include "tests/runtime/random_problem.hpp"

using namespace sptile;
using namespace sptile::test;

namespace {

// Window 0 has over 128 tiles of dense columns, and 3000 columns that row 3 alone holds; window 1 is empty;
// window 2 has only dense columns; the others have few entries.
formats::Csr sample(DType values, Random& random) {
  return random_matrix(61, 5000, values, random, [](std::int64_t r, std::int64_t c) {
    if (r < 8) return c < 2000 ? 0.8 : r == 3 ? 1.0 : 0.0;
    if (r < 16) return 0.0;
    if (r < 24) return c % 100 == 0 ? 1.0 : 0.0;
    return 0.002;
  });
}

std::vector<std::byte> multiply(const formats::FormatView& a, const Dense& dense, int threads,
                                std::string_view kernel = {}) {
  auto plan = runtime::plan_spmm({a, {}, {}, nullptr}, {.n = dense.n,
                                                        .dense = dense.types.operands,
                                                        .result = dense.types.result,
                                                        .kernel = kernel,
                                                        .threads = threads});
  REQUIRE_MESSAGE(plan.has_value(), plan.error().message);
  std::vector<std::byte> c = dense.c_bytes();
  REQUIRE(runtime::run(**plan, operands(dense, c.data(), 0.5, 2)).has_value());
  return c;
}

}  // namespace

TEST_CASE("libra: products are right at every threshold and the same for any number of threads") {
  const test::AllThreads all_threads;
  using Convert = Result<formats::FormatData> (*)(const formats::CsrView&, int, Progress*);
  constexpr std::pair<Convert, int> kCases[] = {
      {formats::libra_spmm_from_csr_at, 1},    {formats::libra_spmm_from_csr_at, 2},
      {formats::libra_spmm_from_csr_at, 3},    {formats::libra_spmm_from_csr_at, 5},
      {formats::libra_spmm_from_csr_at, 8},    {formats::libra_spmm_from_csr_at, 9},
      {formats::libra_sddmm_from_csr_at, 1},   {formats::libra_sddmm_from_csr_at, 24},
      {formats::libra_sddmm_from_csr_at, 100}, {formats::libra_sddmm_from_csr_at, 129}};
  Random random(31);
  for (const DType values : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::none}) {
    const formats::Csr a = sample(values, random);
    const DType type = values == DType::f64 ? DType::f64 : DType::f32;
    const Dense dense(a, 150, type, random);
    const std::vector<std::byte> before = dense.c_bytes();
    for (const auto& one : kCases) {
      const int threshold = one.second;
      const auto data = one.first(a.view(), threshold, nullptr);
      REQUIRE(data.has_value());
      CAPTURE(name_of(values));
      CAPTURE(data->layout->name);
      CAPTURE(threshold);
      std::vector<std::byte> c = multiply(data->view(), dense, 1);
      CHECK(runtime::relative_error(a.view(), dense.n, type, operands(dense, c.data(), 0.5, 2),
                                    before.data()) <= runtime::tolerated_error(a.view(), type));
      CHECK(multiply(data->view(), dense, 3) == c);
    }
  }
}

TEST_CASE("libra_spmm: with all entries in one part, the bits are those of csr") {
  Random random(32);
  const formats::Csr a = sample(DType::f32, random);
  const Dense dense(a, 70, DType::f32, random);
  const std::vector<std::byte> expected =
      multiply(formats::as_format(a.view()), dense, 1, csr_kernel_like_tiles());
  for (const int threshold : {formats::kLibraMinThreshold, formats::kLibraMaxThreshold})
    CHECK(multiply(formats::libra_spmm_from_csr_at(a.view(), threshold, nullptr)->view(), dense, 2) ==
          expected);
}

TEST_CASE("hc_window: with every selector, and any number of threads, the bits are those of csr") {
  const test::AllThreads all_threads;
  constexpr formats::HcSelector kSelectors[] = {
      formats::kHcFitted, formats::kHcPaper, formats::kHcAllTensor, formats::kHcAllCuda, {-100, 0, 1}};
  Random random(33);
  for (const DType values : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::none}) {
    const formats::Csr a = sample(values, random);
    const Dense dense(a, 150, values == DType::f64 ? DType::f64 : DType::f32, random);
    const std::vector<std::byte> expected =
        multiply(formats::as_format(a.view()), dense, 1, csr_kernel_like_tiles());
    for (const formats::HcSelector& selector : kSelectors) {
      const int parameter = formats::hc_parameter(selector);
      CAPTURE(name_of(values));
      CAPTURE(parameter);
      const auto data = formats::hc_window_from_csr_at(a.view(), parameter, nullptr);
      CHECK(multiply(data->view(), dense, 1) == expected);
      CHECK(multiply(data->view(), dense, 3) == expected);
    }
  }
}
