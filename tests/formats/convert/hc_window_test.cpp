// hc_window: which windows go where, for selectors of all kinds.
#include "formats/convert/hc_window.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "formats/layout/hc_window.hpp"
#include "tests/formats/slow/hc_window.hpp"

using namespace sptile;
using namespace sptile::formats;
using namespace sptile::tests;

namespace {

constexpr HcSelector kSelectors[] = {
    kHcFitted,           kHcPaper,        kHcAllTensor,      kHcAllCuda,       {0, 0, 0},
    {-100, 0, 60},       {100, -120, 0},  {511, -512, -512}, {-512, 511, 511}, {-300, 511, 0, true},
    {0, 100, -50, true}, {7, -9, 1, true}};

}  // namespace

TEST_CASE("hc_window: the weights of a selector are its number, and back") {
  for (const HcSelector& selector : kSelectors) CHECK(hc_selector(hc_parameter(selector)) == selector);
  CHECK(hc_selector(0) == HcSelector{-512, -512, -512});
  CHECK(hc_selector(kHcMaxParameter) == HcSelector{511, 511, 511, true});
  CHECK(hc_parameter({-512, -512, -512, true}) == 1 << 30);
  CHECK(hc_parameter({-511, -512, -512}) == 1);
}

TEST_CASE("hc_window: the rule is that of real numbers") {
  for (const HcSelector& selector : kSelectors)
    for (std::size_t columns = 1; columns < 200; ++columns)
      for (std::size_t entries = columns; entries <= 16 * columns; entries += 1 + columns / 7)
        REQUIRE(
            on_cuda_cores(selector, static_cast<std::int64_t>(columns), static_cast<std::int64_t>(entries)) ==
            slow_on_cuda_cores(selector, columns, entries));
  // Windows as large as can be: the weight of the columns decides.
  const std::int64_t columns = std::int64_t{1} << 31;
  CHECK(on_cuda_cores({-512, -512, 1}, columns, columns));
  CHECK_FALSE(on_cuda_cores({511, 511, -1}, columns, columns));
  CHECK(on_cuda_cores({-512, 0, 511}, columns, 2 * columns));
  CHECK_FALSE(on_cuda_cores({511, 0, -512}, columns, 2 * columns));
}

TEST_CASE("hc_window: the paper's selector draws the line of its program") {
  int other = 0;
  for (int columns = 1; columns <= 120; ++columns)
    for (int entries = columns; entries <= 16 * columns; ++entries) {
      const double density = entries / (16.0 * columns);
      other += on_cuda_cores(kHcPaper, columns, entries) !=
               (0.19854024 * columns - 6.578043 * density - 3.14922857 > 0);
    }
  CHECK(other <= 3);  // of 108900
}

TEST_CASE("hc_window: a selector that settles mixes where both kinds of windows gain enough") {
  constexpr HcSelector kSettles = {-400, 511, 0, true};
  constexpr std::int64_t kEntries = 1000, kMin = 511 * kEntries / 8;
  CHECK(settled(kSettles, {kMin + 1, 2 * kMin}, kEntries) == kSettles);
  CHECK(settled(kSettles, {kMin, 2 * kMin}, kEntries) == kHcAllTensor);
  CHECK(settled(kSettles, {2 * kMin, kMin}, kEntries) == kHcAllCuda);
  CHECK(settled(kSettles, {}, 0) == kHcAllTensor);
  constexpr HcSelector kMixes = {-400, 511, 0};
  CHECK(settled(kMixes, {1, 2}, kEntries) == kMixes);
  // As many entries and columns as a matrix of this format may have.
  constexpr std::int64_t kMax = std::int64_t{1} << 32;
  HcGains gains;
  gains.add(gain_on_cuda_cores({511, 511, 511, true}, kMax, kMax));
  gains.add(gain_on_cuda_cores({-512, 511, -512, true}, kMax, kMax));
  CHECK(gains.cuda > 0);
  CHECK(gains.tensor > 0);
  CHECK(settled({0, 1, 0, true}, gains, kMax).settles);
}

TEST_CASE("hc_window: every selector gives what the slow builder gives, and the matrix back") {
  for (const Sample& sample : sample_matrices()) {
    CAPTURE(sample.name);
    const Csr a = make_csr(sample.cols, sample.rows, DType::none);
    std::vector<std::int64_t> positions(static_cast<std::size_t>(a.nnz()));
    for (std::size_t k = 0; k < positions.size(); ++k) positions[k] = static_cast<std::int64_t>(k);
    CsrView view = a.view();
    view.values = ArrayView(std::span<const std::int64_t>(positions));
    for (const HcSelector& selector : kSelectors) {
      CAPTURE(hc_parameter(selector));
      const FormatData data = *hc_window_from_csr_at(view, hc_parameter(selector), nullptr);
      const SlowArrays expected = slow_hc_window_at(sample.rows, selector);
      for (std::size_t i = 0; i < data.arrays.size(); ++i) {
        CAPTURE(data.layout->arrays[i].name);
        CHECK(elements(data.arrays[i].view()) == expected.at(std::string(data.layout->arrays[i].name)));
      }
      const FormatData plain = *hc_window_from_csr_at(a.view(), hc_parameter(selector), nullptr);
      CHECK(check(plain.view()).has_value());
      CHECK(identical(hc_window_to_csr(plain.view())->view(), a.view()));
    }
  }
}

TEST_CASE("hc_window: says how it was made") {
  Rows rows(40);
  for (std::size_t r = 0; r < 16; ++r) rows[r] = {1, 5};
  rows[20] = {3};
  const Csr a = make_csr(9, rows, DType::f32);
  const FormatData data = *hc_window_from_csr_at(a.view(), hc_parameter(kHcPaper), nullptr);
  CHECK(data.parameters == Parameters{{"window_rows", std::int64_t{16}},
                                      {"selector", std::string("paper")},
                                      {"constant_weight", std::int64_t{-346}},
                                      {"sparsity_weight", std::int64_t{234}},
                                      {"columns_weight", std::int64_t{113}},
                                      {"tensor_windows", std::int64_t{2}},
                                      {"cuda_windows", std::int64_t{1}}});
  const FormatData other = *hc_window_from_csr_at(a.view(), 77, nullptr);
  CHECK(other.parameters[1].second == ParameterValue(std::string("77")));
  for (const int wrong : {-1, std::numeric_limits<int>::min()})
    CHECK(hc_window_from_csr_at(a.view(), wrong, nullptr).error().code == Errc::usage);
}
