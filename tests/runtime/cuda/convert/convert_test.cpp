// The steps of the conversions on devices, run on the host: the same bytes as the conversions for the CPU.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "formats/convert/hc_window.hpp"
#include "formats/convert/libra_sddmm.hpp"
#include "formats/convert/libra_spmm.hpp"
#include "formats/convert/rs_tile.hpp"
#include "formats/convert/tall_height.hpp"
#include "formats/layout/packed_parameter.hpp"
#include "formats/layout/registry.hpp"
#include "tests/runtime/cuda/convert/convert_cases.hpp"
#include "tests/runtime/cuda/convert/counting_run.hpp"
#include "tests/runtime/cuda/convert/entry_cases.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::cuda::DeviceCsr;
using runtime::cuda::FixedWindows;

namespace {

DeviceCsr view_of(const formats::Csr& a) {
  return {a.rows, a.cols, a.nnz(), a.row_ptr.data(), a.col_idx.data(), a.values.data(), a.values.dtype()};
}

void check_formats(const formats::Csr& a, bool backwards) {
  HostRun run(backwards);
  for (const auto& conversion : runtime::cuda::kDeviceConversions<HostRun>) {
    const formats::Converter& converter = *formats::find_converter(conversion.layout->name);
    CAPTURE(converter.format);
    const auto check = [&](const Result<formats::FormatData>& expected, std::optional<int> parameter) {
      CAPTURE(parameter.value_or(0));
      REQUIRE(expected);
      const auto made = runtime::cuda::convert_on(run, *expected->layout, view_of(a),
                                                  {.with_source = false, .parameter = parameter});
      REQUIRE_MESSAGE(made.has_value(), made.error().message);
      check_same(*expected, made->view, made->parameters);
    };
    check(converter.from_csr(a.view(), nullptr), {});
    const formats::FormatParameter* const parameter = conversion.layout->parameter;
    if (parameter == nullptr || !parameter->on_device) continue;
    for (int value = 1; value <= formats::kTallMaxRows; value *= 2)
      if (parameter->accepts(value)) check(converter.from_csr_at(a.view(), value, nullptr), value);
  }
}

/// The columns of the windows of a matrix, as a conversion finds them.
struct FoundColumns {
  std::vector<std::uint32_t> place, first;
  std::vector<std::int32_t> ids;

  FoundColumns(const formats::Csr& a, std::int64_t windows)
      : place(static_cast<std::size_t>(a.nnz())),
        first(static_cast<std::size_t>(windows + 1), 77),
        ids(static_cast<std::size_t>(a.nnz()), -1) {}
  bool operator==(const FoundColumns&) const = default;
};

/// Windows of 8 rows with two rows in none behind each.
struct GappedWindows {
  std::int64_t windows;

  [[nodiscard]] std::int64_t window(std::int64_t row) const { return row % 10 < 8 ? row / 10 : windows; }
  [[nodiscard]] std::int64_t row(std::int64_t row) const { return row % 10 < 8 ? row % 10 : 0; }
  [[nodiscard]] std::int64_t begin(std::int64_t window) const { return 10 * window; }
  [[nodiscard]] std::int64_t end(std::int64_t window) const { return 10 * window + 8; }
  [[nodiscard]] static int row_bits() { return 3; }
};

template <class Windows>
FoundColumns by_bits(const formats::Csr& a, const Windows& of_row, std::int64_t windows, HostRun& run) {
  FoundColumns found(a, windows);
  std::vector<runtime::cuda::ColumnRange> ranges(static_cast<std::size_t>(windows));
  const runtime::cuda::NumberByBits<Windows> bits{a.row_ptr.data(), a.col_idx.data(),  a.rows,
                                                  of_row,           ranges.data(),     found.place.data(),
                                                  found.ids.data(), found.first.data()};
  runtime::cuda::WindowSizes workspace;
  measure_windows(run, bits, windows, 1 << 20, &workspace);
  runtime::cuda::number_by_bits(run, bits, windows);
  return found;
}

template <class Windows>
FoundColumns by_sort(const formats::Csr& a, const Windows& of_row, std::int64_t windows, HostRun& run) {
  FoundColumns found(a, windows);
  std::int64_t entries = 0;
  for (std::int64_t r = 0; r < a.rows; ++r)
    if (of_row.window(r) < windows) entries += a.row_ptr[r + 1] - a.row_ptr[r];
  REQUIRE(runtime::cuda::number_by_sort(run, view_of(a), of_row, windows, entries, found.place.data(),
                                        found.ids.data(), found.first.data()));
  return found;
}

template <class Windows>
FoundColumns by_rank(const formats::Csr& a, const Windows& of_row, std::int64_t windows, HostRun& run) {
  FoundColumns found(a, windows);
  REQUIRE(runtime::cuda::number_by_rank(run, view_of(a), of_row, windows, found.place.data(),
                                        found.ids.data(), found.first.data()));
  return found;
}

/// Window by window, with sets.
template <class Windows>
FoundColumns one_by_one(const formats::Csr& a, const Windows& of_row, std::int64_t windows) {
  FoundColumns found(a, windows);
  std::uint32_t count = 0;
  for (std::int64_t w = 0; w < windows; ++w) {
    found.first[static_cast<std::size_t>(w)] = count;
    const auto begin = a.row_ptr[of_row.begin(w)], end = a.row_ptr[std::min(of_row.end(w), a.rows)];
    const std::set<std::int32_t> columns(a.col_idx.data() + begin, a.col_idx.data() + end);
    std::copy(columns.begin(), columns.end(), found.ids.begin() + begin);
    for (auto i = begin; i < end; ++i)
      found.place[static_cast<std::size_t>(i)] =
          static_cast<std::uint32_t>(std::distance(columns.begin(), columns.find(a.col_idx[i])));
    count += static_cast<std::uint32_t>(columns.size());
  }
  found.first.back() = count;
  return found;
}

template <class Windows>
void check_columns(const formats::Csr& a, const Windows& of_row, std::int64_t windows) {
  const FoundColumns expected = one_by_one(a, of_row, windows);
  for (const bool backwards : {false, true}) {
    HostRun run(backwards);
    CHECK((by_bits(a, of_row, windows, run) == expected));
    CHECK((by_sort(a, of_row, windows, run) == expected));
    CHECK((by_rank(a, of_row, windows, run) == expected));
  }
}

/// More columns than a block sees in one round, in rows of very different lengths.
formats::Csr three_rounds(std::int64_t rows, Random& random) {
  return random_matrix(rows, 600'000, DType::f32, random, [](std::int64_t r, std::int64_t c) {
    if (r % 7 == 2) return 0.0;
    if (r % 7 == 3) return c > 500'000 && c < 500'040 ? 1.0 : 0.0;
    return r % 7 == 5 ? 0.01 : 0.0005;
  });
}

}  // namespace

TEST_CASE("device conversions: columns of windows, by bits, by a sort and by searches") {
  Random random(9);
  auto cases = convert_cases();
  cases.push_back({"three rounds", three_rounds(19, random)});
  for (const ConvertCase& one : cases) {
    CAPTURE(one.name);
    const std::int64_t rows = one.matrix.rows;
    for (const int row_bits : {3, 7}) {
      CAPTURE(row_bits);
      check_columns(one.matrix, FixedWindows{row_bits},
                    (rows + (std::int64_t{1} << row_bits) - 1) >> row_bits);
    }
    const std::int64_t windows = (rows + 9) / 10;
    check_columns(one.matrix, GappedWindows{windows}, windows);
  }
}

TEST_CASE("device conversions: columns of several rounds, and one window too large for a block") {
  Random random(10);
  check_formats(three_rounds(35, random), false);
  const formats::Csr large = random_matrix(9, 300'000, 0.23, DType::none, random);
  HostRun run;
  const auto expected = formats::find_converter("bittcf")->from_csr(large.view(), nullptr);
  const auto made = runtime::cuda::convert_on(run, *expected->layout, view_of(large), {});
  REQUIRE(made);
  check_same(*expected, made->view, made->parameters);
}

TEST_CASE("device conversions: more entries than are searched without a look, many and few to a column") {
  Random random(11);
  constexpr std::int64_t kEntries = 180'000;
  check_formats(random_matrix(600, 1000, 0.3, DType::f32, random), false);
  Entries sparse{50'000, 1'000'000, {}, {}, {}};
  for (std::int64_t i = 0; i < kEntries; ++i) {
    sparse.row.push_back(static_cast<std::int64_t>(random() % 50'000));
    sparse.col.push_back(static_cast<std::int64_t>(random() % 1'000'000));
  }
  check_formats(summed(sparse), false);
}

TEST_CASE("device conversions: a small matrix is waited for as few times as sizes must be known") {
  struct Case {
    const char* format;
    RunCounts max;  ///< that a checked matrix may cost
  };
  constexpr Case kCases[] = {
      {"csr", {4, 1, 1, 0}},         {"me_tcf", {18, 2, 1, 6}},      {"bittcf", {16, 2, 1, 5}},
      {"bmat", {18, 2, 1, 6}},       {"rs_tile", {39, 5, 1, 13}},    {"tall", {54, 6, 1, 16}},
      {"libra_spmm", {31, 3, 1, 8}}, {"libra_sddmm", {31, 3, 1, 8}}, {"hc_window", {26, 4, 1, 9}}};
  Random random(12);
  const formats::Csr a = random_matrix(3000, 3000, 0.01, DType::f32, random);
  DeviceCsr csr = view_of(a);
  csr.checked = true;
  for (const Case& c : kCases) {
    CAPTURE(c.format);
    CountingRun run;
    REQUIRE(runtime::cuda::convert_on(run, *formats::find_layout(c.format), csr, {}));
    CHECK(run.counts.launches <= c.max.launches);
    CHECK(run.counts.waits <= c.max.waits);
    CHECK(run.counts.kept <= c.max.kept);
    CHECK(run.counts.work <= c.max.work);
  }
}

TEST_CASE("device conversions: steps look at every entry once, with its row") {
  for (const std::int64_t entries : {0, 1, 3, 4, 127, 128, 129, 1000}) {
    const std::vector<std::int64_t> row_ptr = {0,           0,           entries / 3, entries / 3,
                                               entries / 3, entries / 2, entries,     entries};
    const runtime::cuda::CsrRows rows{row_ptr.data(), 7, entries};
    std::vector<int> together(static_cast<std::size_t>(entries)), apart = together;
    const auto look = [&](std::vector<int>& seen) {
      return [&](std::int64_t i, std::int64_t row) {
        CHECK(
            (row_ptr[static_cast<std::size_t>(row)] <= i && i < row_ptr[static_cast<std::size_t>(row + 1)]));
        ++seen[static_cast<std::size_t>(i)];
      };
    };
    for (std::int64_t step = 0; step < rows.steps(); ++step) rows.visit(step, look(together));
    for (std::int64_t step = 0; step < rows.steps_apart(); ++step) rows.visit_apart(step, look(apart));
    CHECK(std::count(together.begin(), together.end(), 1) == entries);
    CHECK(std::count(apart.begin(), apart.end(), 1) == entries);
  }
}

TEST_CASE("device conversions: every format of many matrices, byte by byte") {
  for (const ConvertCase& one : convert_cases()) {
    CAPTURE(one.name);
    for (const bool backwards : {false, true}) check_formats(one.matrix, backwards);
  }
}

TEST_CASE("device conversions: the cases have every rule, and heights and splits") {
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
        if (name == "rule") add(rules, value.text);
        if (name == "window_rows") add(heights, value.integer);
        if (name == "split_pieces") add(split, value.integer);
      }
    }
  CHECK(rules.size() == 3);
  std::sort(heights.begin(), heights.end());
  CHECK((heights == std::vector<std::int64_t>{8, 16, 32, 64}));  // 8 of rs_tile; 128 are for large matrices
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
      for (const auto& conversion : runtime::cuda::kDeviceConversions<HostRun>) {
        CAPTURE(conversion.layout->name);
        const Formatted expected = format_matrix(a, conversion.layout->name, order);
        const auto made = runtime::cuda::convert_on(run, *expected.data.layout, csr,
                                                    {.with_source = true, .parameter = {}});
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
                                                {.with_source = false, .parameter = threshold});
    REQUIRE(made);
    check_same(*expected, made->view, made->parameters);
  }
  for (const int threshold : {1, 2, 8, 16, 24, 40, 64, 100, 128, 129}) {
    CAPTURE(threshold);
    const auto expected = formats::libra_sddmm_from_csr_at(a.view(), threshold, nullptr);
    const auto made = runtime::cuda::convert_on(run, formats::kLibraSddmmLayout, view_of(a),
                                                {.with_source = false, .parameter = threshold});
    REQUIRE(made);
    check_same(*expected, made->view, made->parameters);
  }
  for (const int threshold : {0, 10})
    CHECK(runtime::cuda::convert_on(run, formats::kLibraSpmmLayout, view_of(a),
                                    {.with_source = false, .parameter = threshold})
              .error()
              .code == Errc::usage);
}

TEST_CASE("device conversions: settings of rs_tile") {
  HostRun run;
  for (const ConvertCase& one : convert_cases())
    for (const char* text :
         {"rule=none", "rule=small_increment", "rule=large_increment,split=1", "tau_nnz=0,split=none",
          "tau_nnz=14", "tau_nnz=3,tau_inc=15,rule=small_increment", "tau_inc=2,split=7",
          "tau_nnz=6,tau_inc=1,rule=large_increment,split=2"}) {
      CAPTURE(one.name);
      CAPTURE(text);
      const int parameter = formats::parse_fields(formats::kRsTileLayout, text).value();
      const auto expected = formats::rs_tile_from_csr_at(one.matrix.view(), parameter, nullptr);
      const auto made = runtime::cuda::convert_on(run, formats::kRsTileLayout, view_of(one.matrix),
                                                  {.with_source = false, .parameter = parameter});
      REQUIRE(made);
      check_same(*expected, made->view, made->parameters);
    }
}

TEST_CASE("device conversions: selectors of hc_window, in every type of values") {
  constexpr formats::HcSelector kSelectors[] = {formats::kHcFitted,  formats::kHcPaper, formats::kHcAllTensor,
                                                formats::kHcAllCuda, {-100, 0, 60},     {100, -120, 0},
                                                {511, -512, -512},   {-512, 511, 511},  {-300, 511, 0, true},
                                                {0, 100, -50, true}};
  HostRun run;
  for (const ConvertCase& one : convert_cases())
    for (const formats::HcSelector& selector : kSelectors) {
      CAPTURE(one.name);
      const int parameter = formats::hc_parameter(selector);
      CAPTURE(parameter);
      const auto expected = formats::hc_window_from_csr_at(one.matrix.view(), parameter, nullptr);
      const auto made = runtime::cuda::convert_on(run, formats::kHcWindowLayout, view_of(one.matrix),
                                                  {.with_source = false, .parameter = parameter});
      REQUIRE(made);
      check_same(*expected, made->view, made->parameters);
    }
}

TEST_CASE("device conversions: the rule of hc_window is that of the host") {
  for (const int parameter : {0, 1, 77777777, 123456789, 1000000000, formats::kHcMaxParameter}) {
    const formats::HcSelector selector = formats::hc_selector(parameter);
    const runtime::cuda::HcRule rule(selector);
    for (std::int64_t columns = 1; columns < std::int64_t{1} << 31; columns += 1 + columns / 5)
      for (const std::int64_t entries : {columns, columns + 1, 3 * columns, 16 * columns})
        REQUIRE(rule.gain_on_cuda_cores(columns, entries) ==
                formats::gain_on_cuda_cores(selector, columns, entries));
  }
  const std::int64_t max = std::int64_t{1} << 31;  // as many columns as there can be: nothing overflows
  CHECK(runtime::cuda::HcRule({-512, 0, 511}).gain_on_cuda_cores(max, 2 * max) > 0);
  CHECK(runtime::cuda::HcRule({511, 0, -511}).gain_on_cuda_cores(max, 2 * max) < 0);
}

TEST_CASE("device conversions: a format without one is refused, the others are not") {
  Random random(9);
  HostRun run;
  const formats::Csr a = random_matrix(20, 30, 0.2, DType::f32, random);
  std::size_t made = 0;
  for (const formats::FormatLayout* layout : formats::layouts()) {
    const auto result = runtime::cuda::convert_on(run, *layout, view_of(a), {});
    made += result.has_value();
    if (!result) CHECK(result.error().code == Errc::unsupported);
  }
  CHECK(made == std::size(runtime::cuda::kDeviceConversions<HostRun>));
  CHECK(made >= 9);
}

TEST_CASE("device conversions: a number that a format does not take on a device is refused") {
  Random random(8);
  HostRun run;
  const formats::Csr a = random_matrix(20, 30, 0.2, DType::f32, random);
  for (const formats::FormatLayout* layout : formats::layouts()) {
    CAPTURE(layout->name);
    const auto made =
        runtime::cuda::convert_on(run, *layout, view_of(a), {.with_source = false, .parameter = 16});
    const bool taken =
        layout->parameter != nullptr && layout->parameter->on_device && layout->parameter->accepts(16);
    CHECK(made.has_value() == taken);
    if (!taken) CHECK(made.error().code == Errc::usage);
  }
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
      }
    }
  }
}

TEST_CASE("device conversions: groups of tall windows are dealt to the same places") {
  for (std::int64_t groups = 1; groups < 300; ++groups) {
    formats::BitReversedOrder deal(groups);
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
    for (const bool checked : {false, true}) {
      csr.checked = checked;
      CHECK(runtime::cuda::convert_on(run, formats::kBitTcfLayout, csr, {}).error().code == Errc::bad_input);
    }
  }
  csr = view_of(good);
  csr.nnz = std::int64_t{1} << 33;
  CHECK(runtime::cuda::convert_on(run, formats::kBitTcfLayout, csr, {}).error().code == Errc::unsupported);
  csr = view_of(good);
  csr.values = nullptr;
  CHECK(runtime::cuda::convert_on(run, formats::kBitTcfLayout, csr, {}).error().code == Errc::usage);
}
