// The steps of the conversions on devices, run on the host: the same bytes as the conversions for the CPU.
#include <doctest/doctest.h>

#include <algorithm>

#include "formats/convert/libra_sddmm.hpp"
#include "formats/convert/libra_spmm.hpp"
#include "formats/convert/tall_height.hpp"
#include "formats/layout/registry.hpp"
#include "tests/runtime/cuda/convert/convert_cases.hpp"
#include "tests/runtime/cuda/convert/host_run.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::cuda::DeviceCsr;

namespace {

DeviceCsr view_of(const formats::Csr& a) {
  return {a.rows, a.cols, a.nnz(), a.row_ptr.data(), a.col_idx.data(), a.values.data(), a.values.dtype()};
}

void check_formats(const formats::Csr& a, bool backwards) {
  HostRun run(backwards);
  for (const formats::Converter& converter : formats::converters()) {
    CAPTURE(converter.format);
    const auto expected = converter.from_csr(a.view(), nullptr);
    REQUIRE(expected);
    const auto made = runtime::cuda::convert_on(run, *expected->layout, view_of(a), {});
    REQUIRE_MESSAGE(made.has_value(), made.error().message);
    check_same(*expected, made->view, made->parameters);
  }
}

}  // namespace

TEST_CASE("device conversions: every format of many matrices, byte by byte") {
  for (const ConvertCase& one : convert_cases()) {
    CAPTURE(one.name);
    for (const bool backwards : {false, true}) check_formats(one.matrix, backwards);
  }
}

TEST_CASE("device conversions: the cases have every rule, height and split") {
  std::vector<std::string> rules;
  std::vector<std::int64_t> heights, split;
  const auto add = [](auto& list, const auto& value) {
    if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
  };
  for (const ConvertCase& one : convert_cases())
    for (const char* const format : {"rs_tile", "tall"}) {
      const auto data = formats::find_converter(format)->from_csr(one.matrix.view(), nullptr);
      REQUIRE(data);
      for (const auto& [name, value] : data->parameters) {
        if (name == "rule") add(rules, std::get<std::string>(value));
        if (name == "window_rows") add(heights, std::get<std::int64_t>(value));
        if (name == "split_pieces") add(split, std::get<std::int64_t>(value));
      }
    }
  CHECK(rules.size() == 3);
  std::sort(heights.begin(), heights.end());
  CHECK((heights == std::vector<std::int64_t>{8, 16, 32, 64, 128}));  // 8 of rs_tile
  CHECK(split.size() > 1);
}

TEST_CASE("device conversions: rows in another order, and where values stood") {
  Random random(5);
  HostRun run;
  for (const DType dtype : {DType::none, DType::f16, DType::f32, DType::f64}) {
    const formats::Csr a = random_matrix(333, 250, 0.05, dtype, random);
    for (const bool ordered : {false, true}) {
      const auto order = ordered ? random_order(a.rows, random) : std::vector<std::int32_t>();
      DeviceCsr csr = view_of(a);
      if (ordered) csr.row_order = order.data();
      for (const formats::Converter& converter : formats::converters()) {
        CAPTURE(converter.format);
        const Formatted expected = format_matrix(a, converter.format, order);
        const auto made = runtime::cuda::convert_on(run, *expected.data.layout, csr,
                                                    {.with_source = true, .threshold = {}});
        REQUIRE(made);
        check_same(expected.data, made->view, made->parameters);
        CHECK(made->value_source.present() == (dtype != DType::none));
        if (ordered && dtype != DType::none)
          CHECK(std::memcmp(made->value_source.data, expected.value_source.data(),
                            static_cast<std::size_t>(8 * a.nnz())) == 0);
      }
    }
  }
}

TEST_CASE("device conversions: thresholds of Libra's formats") {
  Random random(6);
  HostRun run;
  const formats::Csr a = random_matrix(200, 300, 0.2, DType::f32, random);
  for (int threshold = 1; threshold <= 9; ++threshold) {
    CAPTURE(threshold);
    const auto expected = formats::libra_spmm_from_csr_at(a.view(), threshold, nullptr);
    const auto made = runtime::cuda::convert_on(run, formats::kLibraSpmmLayout, view_of(a),
                                                {.with_source = false, .threshold = threshold});
    REQUIRE(made);
    check_same(*expected, made->view, made->parameters);
  }
  for (const int threshold : {1, 2, 8, 16, 24, 40, 64, 100, 128, 129}) {
    CAPTURE(threshold);
    const auto expected = formats::libra_sddmm_from_csr_at(a.view(), threshold, nullptr);
    const auto made = runtime::cuda::convert_on(run, formats::kLibraSddmmLayout, view_of(a),
                                                {.with_source = false, .threshold = threshold});
    REQUIRE(made);
    check_same(*expected, made->view, made->parameters);
  }
  for (const int threshold : {0, 10})
    CHECK(runtime::cuda::convert_on(run, formats::kLibraSpmmLayout, view_of(a),
                                    {.with_source = false, .threshold = threshold})
              .error()
              .code == Errc::usage);
}

TEST_CASE("device conversions: heights of tall are compared on the same sample") {
  Random random(7);
  HostRun run;
  for (const std::int64_t rows : {1, 127, 128, 1000, 5000}) {
    const formats::Csr a = random_matrix(rows, 300, 0.03, DType::none, random);
    for (const std::int64_t entries : {std::int64_t{1} << 22, std::int64_t{5000}, std::int64_t{700}}) {
      CAPTURE(rows);
      CAPTURE(entries);
      const formats::TallCounts expected = formats::count_tall_windows(a.view(), entries);
      const auto made = runtime::cuda::count_tall_on(run, view_of(a), entries);
      REQUIRE(made);
      for (std::size_t level = 0; level < expected.size(); ++level) {
        CHECK((*made)[level].windows == expected[level].windows);
        CHECK((*made)[level].columns == expected[level].columns);
        CHECK((*made)[level].groups == expected[level].groups);
        CHECK((*made)[level].tiles == expected[level].tiles);
        CHECK((*made)[level].visits == expected[level].visits);
      }
    }
  }
}

TEST_CASE("device conversions: groups of tall windows are dealt to the same places") {
  for (std::int64_t groups = 1; groups < 300; ++groups) {
    formats::TallDeal deal(groups);
    for (std::int64_t place = 0; place < groups; ++place)
      CHECK(runtime::cuda::tall_place(deal.next(), groups) == place);
  }
}

TEST_CASE("device conversions: what is no CSR matrix is refused, in the words of the CPU") {
  Random random(8);
  HostRun run;
  const formats::Csr good = random_matrix(50, 60, 0.2, DType::f32, random);
  const auto broken = [&](const std::function<void(formats::Csr&)>& change) {
    formats::Csr a = formats::copy(good.view());
    change(a);
    const Status expected = formats::check_csr(a.view());
    REQUIRE(!expected);
    for (const char* const format : {"csr", "bittcf", "tall"}) {
      const auto made = runtime::cuda::convert_on(run, *formats::find_layout(format), view_of(a), {});
      REQUIRE(!made);
      CHECK(made.error().code == Errc::bad_input);
      CHECK(made.error().message == expected.error().message);
    }
  };
  broken([](formats::Csr& a) { a.row_ptr[0] = 1; });
  broken([](formats::Csr& a) { a.row_ptr[0] = -1; });
  broken([](formats::Csr& a) { a.row_ptr[20] = a.row_ptr[19] - 1; });
  broken([](formats::Csr& a) { a.row_ptr[20] = std::int64_t{1} << 40; });
  broken([](formats::Csr& a) { a.row_ptr[50] -= 1; });
  broken([](formats::Csr& a) { a.col_idx[0] = -1; });
  broken([](formats::Csr& a) { a.col_idx[100] = 60; });
  broken([](formats::Csr& a) { a.col_idx[a.row_ptr[7] + 1] = a.col_idx[a.row_ptr[7]]; });
  broken([](formats::Csr& a) { a.col_idx[a.nnz() - 1] = 0; });

  DeviceCsr csr = view_of(good);
  std::vector<std::int32_t> order = random_order(50, random);
  csr.row_order = order.data();
  for (const std::int32_t bad : {-1, 50, order[3]}) {
    order[7] = bad;
    CHECK(runtime::cuda::convert_on(run, formats::kBitTcfLayout, csr, {}).error().code == Errc::bad_input);
  }
  csr = view_of(good);
  csr.nnz = std::int64_t{1} << 33;
  CHECK(runtime::cuda::convert_on(run, formats::kBitTcfLayout, csr, {}).error().code == Errc::unsupported);
  csr = view_of(good);
  csr.values = nullptr;
  CHECK(runtime::cuda::convert_on(run, formats::kBitTcfLayout, csr, {}).error().code == Errc::usage);
}
