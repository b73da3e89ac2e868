// Selectors from synthetic measurements, and the matrices that are measured.
#include "tools/calibrate/selector.hpp"

#include <doctest/doctest.h>

#include <set>

#include "formats/layout/csr.hpp"
#include "tools/calibrate/window_matrices.hpp"

using namespace sptile;
using namespace sptile::tools;

namespace {

/// CUDA cores take as long as there are entries, tensor cores two and a half times as long as there are
/// columns.
SelectorSample sample_of(const WindowShape& shape, const char* precision, std::int64_t n) {
  const auto entries = static_cast<double>(shape.entries), columns = static_cast<double>(shape.columns);
  return {"k", precision, n, shape, 10 + 2.5 * columns, 10 + entries};
}

}  // namespace

TEST_CASE("selectors: one for each kernel, precision and N, that is right for windows it has not seen") {
  std::vector<SelectorSample> samples;
  for (const WindowShape& shape : window_shapes(1)) {
    samples.push_back(sample_of(shape, "tf32", 32));
    samples.push_back(sample_of(shape, "tf32", 128));
    std::swap(samples.back().tensor_us, samples.back().cuda_us);
    samples.push_back(sample_of(shape, "fp16", 32));
  }
  const auto fits = fit_selectors(samples);
  REQUIRE(fits.size() == 3);
  CHECK(fits[0].precision == "fp16");
  CHECK(fits[1].n == 32);
  CHECK(fits[2].n == 128);
  for (const SelectorFit& fit : fits) {
    CHECK(fit.held_out.windows == 48);
    CHECK(fit.held_out.right >= 43);  // no shape of the grid has 2 to 3 entries a column
    CHECK(fit.clear.windows < 48);
    CHECK(fit.clear.windows > 30);
    CHECK(fit.clear.right >= fit.clear.windows - 3);
  }
  CHECK(fits[1].selector.sparsity > 0);  // few entries to a column: CUDA cores
  CHECK(fits[2].selector.sparsity < 0);
  const auto numbers = selector_numbers(fits);
  REQUIRE(numbers.size() == 3);
  CHECK(numbers[2].name == "selector_128");
  CHECK(formats::hc_selector(static_cast<int>(numbers[2].value)) == fits[2].selector);
  CHECK(fit_selectors({}).empty());
}

TEST_CASE("selectors: where all windows are faster on one kind of core, all go there") {
  std::vector<SelectorSample> samples;
  for (const WindowShape& shape : window_shapes(2)) samples.push_back({"k", "tf32", 32, shape, 5, 4});
  for (const bool cuda : {true, false}) {
    const SelectorFit fit = fit_selectors(samples).front();
    for (const WindowShape& shape : window_shapes(3))
      CHECK(formats::on_cuda_cores(fit.selector, shape.columns, shape.entries) == cuda);
    for (SelectorSample& s : samples) std::swap(s.tensor_us, s.cuda_us);
  }
}

TEST_CASE("selectors: integer weights keep the line and assign windows individually") {
  CHECK(whole_weights({-9.72727157, {6.578043, 3.17664384}}) == formats::HcSelector{-511, 346, 167});
  CHECK(whole_weights({0.002, {0, -0.0015}}) == formats::HcSelector{511, 0, -383});
  CHECK(whole_weights({0, {0, 0}}) == formats::kHcAllTensor);
}

TEST_CASE("window matrices: shapes cover 1 to 120 columns of 1 to 5 entries, some held out") {
  std::set<std::int64_t> columns;
  int held_out = 0;
  for (const WindowShape& shape : window_shapes(1)) {
    columns.insert(shape.columns);
    held_out += shape.held_out;
    CHECK(shape.entries >= shape.columns);
    CHECK(shape.entries <= 5 * shape.columns);
  }
  CHECK(*columns.begin() == 1);
  CHECK(*columns.rbegin() == 120);
  CHECK(held_out == 48);
}

TEST_CASE("window matrices: every window has its columns and entries, the same every time") {
  for (const WindowShape& shape : {WindowShape{1, 1}, {1, 5}, {7, 20}, {120, 600}, {16, 256}}) {
    const formats::Csr a = make_windows(shape, 30, 500, 9), again = make_windows(shape, 30, 500, 9);
    CHECK(formats::check_csr(a.view()).has_value());
    CHECK(formats::identical(a.view(), again.view()));
    CHECK(a.rows == 480);
    std::set<std::vector<std::int32_t>> lists;
    for (std::int64_t w = 0; w < 30; ++w) {
      const std::int64_t first = a.row_ptr[16 * w], end = a.row_ptr[16 * w + 16];
      const std::set<std::int32_t> columns(a.col_idx.data() + first, a.col_idx.data() + end);
      CHECK(end - first == shape.entries);
      CHECK(std::ssize(columns) == shape.columns);
      lists.emplace(columns.begin(), columns.end());
    }
    CHECK(lists.size() > 20);
  }
}
