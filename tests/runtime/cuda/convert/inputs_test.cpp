// Matrices as applications have them in device memory, taken by the steps of devices that run on the host.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "formats/core/value_types.hpp"
#include "formats/layout/hc_rules.hpp"
#include "formats/layout/packed_parameter.hpp"
#include "formats/layout/registry.hpp"
#include "formats/layout/rs_tile.hpp"
#include "runtime/cuda/convert/entries.hpp"
#include "tests/runtime/cuda/convert/convert_cases.hpp"
#include "tests/runtime/cuda/convert/counting_run.hpp"
#include "tests/runtime/cuda/convert/entry_cases.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::cuda::canonical_on;
using runtime::cuda::DeviceCsr;
using runtime::cuda::DeviceEntries;
using runtime::cuda::Disorder;
using runtime::cuda::EntryOptions;
using runtime::cuda::OwnedCsr;

namespace {

formats::CsrView view_of(const DeviceCsr& a) {
  return {a.rows, a.cols, std::span(a.row_ptr, static_cast<std::size_t>(a.rows + 1)),
          std::span(a.col_idx, static_cast<std::size_t>(a.nnz)),
          a.value_dtype == DType::none ? ArrayView() : ArrayView(a.value_dtype, a.values, a.nnz)};
}

DeviceCsr device_view(const formats::Csr& a) {
  return {a.rows, a.cols, a.nnz(), a.row_ptr.data(), a.col_idx.data(), a.values.data(), a.values.dtype()};
}

OwnedCsr taken(const DeviceEntries& entries, const EntryOptions& options, bool backwards = false) {
  HostRun run(backwards);
  auto made = canonical_on(run, entries, options);
  REQUIRE_MESSAGE(made.has_value(), made.error().text());
  CHECK(made->csr.checked);
  return std::move(*made);
}

/// New values in the caller's order come to where they belong.
void check_put_values(const OwnedCsr& made, const Entries& old, Random& random) {
  Entries e{old.rows, old.cols, old.row, old.col, {}};
  e.values = random_values(e.size(), old.values.dtype(), random);
  const formats::Csr expected = summed(e);
  std::vector<std::byte> to(static_cast<std::size_t>(expected.values.view().bytes()));
  HostRun run;
  runtime::cuda::put_values_on(run, made, e.values.data(), to.data());
  CHECK((to.empty() || std::memcmp(to.data(), expected.values.data(), to.size()) == 0));
}

void check_taken(const Entries& e, const EntryForm& form, Disorder disorder, Random& random) {
  CAPTURE(form.name());
  const formats::Csr expected = summed(e);
  const EntryArrays arrays(e, form);
  for (const bool backwards : {false, true}) {
    const OwnedCsr made = taken(arrays.view, {disorder}, backwards);
    CHECK(!made.borrows);
    CHECK(identical(view_of(made.csr), expected.view()));
    CHECK(made.first.present() == (expected.nnz() < e.size()));
    check_put_values(made, e, random);
  }
}

/// Entries with some of them again, up to `max` times.
Entries repeated(const Entries& e, int max, Random& random) {
  std::vector<std::int64_t> chosen;
  for (std::int64_t i = 0; i < e.size(); ++i)
    chosen.insert(chosen.end(), 1 + (random() % 3 == 0 ? random() % static_cast<unsigned>(max) : 0), i);
  Entries result = choose(e, chosen);
  result.values = random_values(result.size(), e.values.dtype(), random);
  return result;
}

/// Rows as good as any: three, the second empty, with the columns 1 4, -, 0 2 5 of 7.
Entries few_entries() {
  Entries e{3, 7, {0, 0, 2, 2, 2}, {1, 4, 0, 2, 5}, formats::Array(DType::f32, 5)};
  for (std::int64_t i = 0; i < 5; ++i)
    e.values.as<float>()[static_cast<std::size_t>(i)] = static_cast<float>(i);
  return e;
}

std::string refusal(const DeviceEntries& entries, Disorder disorder = Disorder::refuse,
                    Errc code = Errc::bad_input) {
  HostRun run;
  const auto made = canonical_on(run, entries, {disorder});
  REQUIRE(!made);
  CHECK(made.error().code == code);
  return made.error().message;
}

}  // namespace

TEST_CASE("device inputs: entries in order, of every shape, type and form") {
  Random random(51);
  for (const ConvertCase& one : convert_cases()) {
    CAPTURE(one.name);
    const Entries e = entries_of(one.matrix);
    for (const EntryForm& form : kEntryForms)
      for (const Disorder disorder : {Disorder::refuse, Disorder::sort, Disorder::sum}) {
        check_taken(e, form, disorder, random);
        CHECK(!taken(EntryArrays(e, form).view, {disorder}).position.present());
      }
  }
}

TEST_CASE("device inputs: entries in any order, each once") {
  Random random(52);
  for (const ConvertCase& one : convert_cases()) {
    CAPTURE(one.name);
    const Entries e = entries_of(one.matrix);
    for (const EntryForm& form : kEntryForms) {
      const Entries mixed = choose(e, shuffled(e, form.csr, random));
      for (const Disorder disorder : {Disorder::sort, Disorder::sum})
        check_taken(mixed, form, disorder, random);
    }
  }
}

TEST_CASE("device inputs: entries in one place are added up") {
  Random random(53);
  for (const DType dtype : {DType::none, DType::f16, DType::bf16, DType::f32, DType::f64}) {
    CAPTURE(name_of(dtype));
    for (const RandomShape& shape : kRandomShapes) {
      const Entries e = repeated(
          entries_of(random_matrix(shape.rows, shape.cols, shape.density, dtype, random)), 40, random);
      for (const EntryForm& form : kEntryForms) {
        check_taken(choose(e, shuffled(e, form.csr, random)), form, Disorder::sum, random);
        check_taken(e, form, Disorder::sum, random);
      }
    }
  }
}

TEST_CASE("device inputs: sums of 16-bit values are rounded once") {
  const auto check = [](auto type) {
    using T = decltype(type);
    for (std::uint32_t i = 0; i < 0x10000; ++i) {
      const T number{static_cast<std::uint16_t>(i)};
      const double wide = runtime::cuda::widen(number), expected = to_float(number);
      if (std::isnan(expected)) {
        CHECK(std::isnan(wide));
        continue;
      }
      REQUIRE(std::memcmp(&wide, &expected, sizeof wide) == 0);
      // The number, what is near, the middle between it and the next, what is near to that.
      const double next = to_float(T{static_cast<std::uint16_t>(i + 1)}), middle = wide + (next - wide) / 2;
      for (const double x : {wide, middle, 1.5 * wide, wide * 0x1p-20, wide * 0x1p-1000})
        for (const double near : {x, std::nextafter(x, 1e300), std::nextafter(x, -1e300)}) {
          if (std::isnan(near)) continue;
          T rounded;
          runtime::cuda::round_to(rounded, near);
          REQUIRE(rounded == formats::round_to<T>(near));
        }
    }
    for (const double x : {std::numeric_limits<double>::infinity(), 1e300, -1e300, 0.0, -0.0, 5e-324, 65519.0,
                           65520.0, 3.3961775292304e38, 3.4028235677973366e38}) {
      T rounded;
      runtime::cuda::round_to(rounded, x);
      CHECK(rounded == formats::round_to<T>(x));
    }
    T nan;
    runtime::cuda::round_to(nan, std::nan(""));
    CHECK(std::isnan(to_float(nan)));
  };
  check(Half{});
  check(BFloat16{});
}

TEST_CASE("device inputs: arrays that are as they should be stay where they are") {
  Random random(54);
  const formats::Csr a = random_matrix(40, 50, 0.1, DType::f32, random);
  const Entries e = entries_of(a);
  for (const EntryForm& form : kEntryForms) {
    CAPTURE(form.name());
    const EntryArrays arrays(e, form);
    const OwnedCsr made = taken(arrays.view, {Disorder::refuse, true});
    CHECK(made.borrows);
    CHECK(identical(view_of(made.csr), a.view()));
    CHECK((made.csr.row_ptr == arrays.view.row) == (form.csr && form.row == DType::i64));
    CHECK((made.csr.col_idx == arrays.view.col) == (form.col == DType::i32));
    CHECK(made.csr.values == arrays.view.values);
    // Nothing is written to what was lent.
    const Entries mixed = choose(e, shuffled(e, form.csr, random));
    const EntryArrays unsorted(mixed, form), before = unsorted;
    const OwnedCsr sorted = taken(unsorted.view, {Disorder::sort, true});
    CHECK(!sorted.borrows);
    CHECK(identical(view_of(sorted.csr), a.view()));
    CHECK(unsorted.row == before.row);
    CHECK(unsorted.col == before.col);
  }
}

TEST_CASE("device inputs: a matrix in order is looked at once and waited for once") {
  const Entries e = entries_of(summed(few_entries()));
  for (const EntryForm& form : kEntryForms) {
    CAPTURE(form.name());
    const EntryArrays arrays(e, form);
    for (const bool borrow : {false, true}) {
      CountingRun run;
      REQUIRE(canonical_on(run, arrays.view, {Disorder::sum, borrow}));
      const bool all_lent = borrow && form.csr && form.row == DType::i64 && form.col == DType::i32;
      CHECK(run.counts.launches <= (all_lent ? 4 : 6));
      CHECK(run.counts.waits == 1);
      CHECK(run.counts.kept == (all_lent ? 0 : 1));
      CHECK(run.counts.work == 1);
    }
  }
}

TEST_CASE("device inputs: what is trusted is not looked at, as long as it can stay as it is") {
  Random random(75);
  const Entries e = entries_of(random_matrix(40, 50, 0.2, DType::f32, random));
  for (const EntryForm& form : kEntryForms) {
    CAPTURE(form.name());
    const EntryArrays arrays(e, form);
    for (const Disorder disorder : {Disorder::refuse, Disorder::sum}) {
      CountingRun run;
      const auto made = canonical_on(run, arrays.view, {disorder, true, true});
      REQUIRE(made);
      CHECK(made->csr.checked);
      const bool stays = form.csr && form.row == DType::i64 && form.col == DType::i32;
      CHECK((run.counts.launches + run.counts.waits + run.counts.work == 0) ==
            (stays && disorder == Disorder::refuse));
    }
  }
}

TEST_CASE("device inputs: what stands behind an array is defined, as for formats") {
  const Entries e = few_entries();
  const OwnedCsr made = taken(EntryArrays(e, kEntryForms[1]).view, {});
  for (int i = 3 * 4 + 8; i < 256; ++i)
    CHECK(reinterpret_cast<const unsigned char*>(made.csr.values)[i] == 0);
  CHECK(reinterpret_cast<const unsigned char*>(made.csr.row_ptr)[4 * 8] == 0);
}

TEST_CASE("device inputs: bad ids and disorder of CSR are refused with their place, as on the CPU") {
  Random random(55);
  const formats::Csr good = random_matrix(50, 60, 0.2, DType::f32, random);
  const auto broken = [&](const std::function<void(formats::Csr&)>& change) {
    formats::Csr a = formats::copy(good.view());
    change(a);
    const auto expected = formats::check_csr(a.view());
    REQUIRE(!expected);
    for (const EntryForm& form : kEntryForms) {
      if (!form.csr) continue;
      CAPTURE(form.name());
      Entries e = entries_of(good);
      std::copy(a.col_idx.begin(), a.col_idx.end(), e.col.begin());
      EntryArrays arrays(e, form);
      const std::vector<std::int64_t> offsets(a.row_ptr.begin(), a.row_ptr.end());
      arrays.row = as_ids(offsets, form.row);
      arrays.view.row = arrays.row.data();
      CHECK(refusal(arrays.view) == expected.error().message);
    }
  };
  broken([](formats::Csr& a) { a.row_ptr[0] = 1; });
  broken([](formats::Csr& a) { a.row_ptr[0] = -1; });
  broken([](formats::Csr& a) { a.row_ptr[20] = a.row_ptr[19] - 1; });
  broken([](formats::Csr& a) { a.row_ptr[20] = std::int64_t{1} << 30; });
  broken([](formats::Csr& a) { a.row_ptr[50] -= 1; });
  broken([](formats::Csr& a) { a.col_idx[0] = -1; });
  broken([](formats::Csr& a) { a.col_idx[100] = 60; });
  broken([](formats::Csr& a) { a.col_idx[a.row_ptr[7] + 1] = a.col_idx[a.row_ptr[7]]; });
  broken([](formats::Csr& a) { a.col_idx[a.nnz() - 1] = 0; });
}

TEST_CASE("device inputs: bad ids and disorder, entry by entry") {
  const auto with = [](const EntryForm& form, const std::function<void(Entries&)>& change,
                       Disorder disorder) {
    Entries e = few_entries();
    change(e);
    return refusal(EntryArrays(e, form).view, disorder);
  };
  const EntryForm csr = kEntryForms[0], coo = kEntryForms[5];
  for (const Disorder disorder : {Disorder::sort, Disorder::sum}) {
    CHECK(with(
              csr, [](Entries& e) { e.col[3] = 7; }, disorder) ==
          "csr: col_idx[3] = 7, expected 0 to 6 (row 2)");
    CHECK(with(
              csr, [](Entries& e) { e.col[0] = -1; }, disorder) ==
          "csr: col_idx[0] = -1, expected 0 to 6 (row 0)");
  }
  for (const Disorder disorder : {Disorder::refuse, Disorder::sort, Disorder::sum}) {
    CHECK(with(
              coo, [](Entries& e) { e.row[0] = -1; }, disorder) ==
          "coo: entry 0 is (-1, 1), expected rows 0 to 2 and columns 0 to 6");
    CHECK(with(
              coo, [](Entries& e) { e.row[4] = 3; }, disorder) ==
          "coo: entry 4 is (3, 5), expected rows 0 to 2 and columns 0 to 6");
    CHECK(with(
              coo, [](Entries& e) { e.col[1] = 7; }, disorder) ==
          "coo: entry 1 is (0, 7), expected rows 0 to 2 and columns 0 to 6");
    CHECK(with(
              coo, [](Entries& e) { e.col[2] = -5; }, disorder) ==
          "coo: entry 2 is (2, -5), expected rows 0 to 2 and columns 0 to 6");
    CHECK(with(
              coo, [](Entries& e) { e.col[4] = std::int64_t{1} << 32; }, disorder) ==
          "coo: entry 4 is (2, 4294967296), expected rows 0 to 2 and columns 0 to 6");
    CHECK(with(
              coo, [](Entries& e) { e.row[1] = std::int64_t{1} << 32; }, disorder) ==
          "coo: entry 1 is (4294967296, 4), expected rows 0 to 2 and columns 0 to 6");
  }
  CHECK(with(
            coo, [](Entries& e) { e.row[3] = 1; }, Disorder::refuse) ==
        "coo: entry 3 is (1, 2), expected an entry after (2, 0) (entries ascend by row, then column)");
  CHECK(with(
            coo, [](Entries& e) { e.col[3] = 0; }, Disorder::refuse) ==
        "coo: entry 3 is (2, 0), expected an entry after (2, 0) (entries ascend by row, then column)");
  CHECK(with(
            coo, [](Entries& e) { e.col[0] = 4; }, Disorder::sort) ==
        "coo: entries 0 and 1 are both (0, 4); expected one per position, or request their sum");
  CHECK(with(
            csr, [](Entries& e) { e.col[4] = 0; }, Disorder::sort) ==
        "csr: entries 2 and 4 are both (2, 0); expected one per position, or request their sum");
  CHECK(with(
            csr, [](Entries& e) { e.col[2] = e.col[4] = 2; }, Disorder::sort) ==
        "csr: entries 2 and 3 are both (2, 2); expected one per position, or request their sum");
}

TEST_CASE("device inputs: entries of a matrix without rows or columns are refused") {
  for (const EntryForm& form : kEntryForms) {
    CAPTURE(form.name());
    Entries e = few_entries();
    e.cols = 0;
    refusal(EntryArrays(e, form).view, Disorder::sum);
    e = few_entries();
    EntryArrays arrays(e, form);
    arrays.view.rows = 0;
    refusal(arrays.view, Disorder::sum);
  }
}

TEST_CASE("device inputs: requests that mean nothing") {
  const Entries e = few_entries();
  const EntryArrays csr(e, kEntryForms[0]), coo(e, kEntryForms[4]);
  const auto refused = [](DeviceEntries entries, const std::function<void(DeviceEntries&)>& change,
                          Errc code = Errc::usage, Disorder disorder = Disorder::refuse) {
    change(entries);
    return refusal(entries, disorder, code);
  };
  CHECK(refused(csr.view, [](DeviceEntries& x) { x.rows = -1; }) ==
        "csr: -1 rows, 7 columns, 5 entries; expected 0 to 2147483647 rows and columns and a non-negative "
        "number of entries");
  refused(csr.view, [](DeviceEntries& x) { x.cols = std::int64_t{1} << 31; });
  refused(coo.view, [](DeviceEntries& x) { x.nnz = -1; });
  CHECK(refused(
            coo.view, [](DeviceEntries& x) { x.nnz = std::int64_t{1} << 32; }, Errc::unsupported) ==
        "coo: a matrix on a device has at most 4294967295 entries, not 4294967296; convert on the CPU");
  CHECK(refused(csr.view, [](DeviceEntries& x) { x.row = nullptr; }) ==
        "csr: the rows or the columns are null");
  refused(coo.view, [](DeviceEntries& x) { x.row = nullptr; });
  refused(csr.view, [](DeviceEntries& x) { x.col = nullptr; });
  CHECK(refused(csr.view, [](DeviceEntries& x) { x.values = nullptr; }) ==
        "csr: the values are null; a pattern has the value type none");
  CHECK(refused(csr.view, [](DeviceEntries& x) { x.row_type = DType::u32; }) ==
        "csr: rows and columns must have type i32 or i64, not u32");
  refused(csr.view, [](DeviceEntries& x) { x.col_type = DType::none; });
  CHECK(refused(csr.view, [](DeviceEntries& x) { x.value_dtype = DType::u8; }) ==
        "csr: values of type u8; expected elements of 2, 4 or 8 bytes");
  CHECK(refused(
            csr.view, [](DeviceEntries& x) { x.value_dtype = DType::i32; }, Errc::usage, Disorder::sum) ==
        "csr: values of type i32 cannot be summed; expected f16, bf16, f32 or f64");
}

TEST_CASE("device inputs: the transpose, with positions and without") {
  Random random(56);
  for (const ConvertCase& one : convert_cases()) {
    CAPTURE(one.name);
    const formats::Csr expected = formats::transpose(one.matrix.view());
    for (const bool backwards : {false, true}) {
      HostRun run(backwards);
      const auto plain = runtime::cuda::transpose_on(run, device_view(one.matrix), false);
      REQUIRE(plain);
      CHECK(identical(view_of(plain->csr), expected.view()));
      CHECK(!plain->position.present());
      const auto made = runtime::cuda::transpose_on(run, device_view(one.matrix), true);
      REQUIRE(made);
      CHECK(identical(view_of(made->csr), expected.view()));
      formats::Csr changed = formats::copy(one.matrix.view());
      changed.values = random_values(changed.nnz(), changed.values.dtype(), random);
      const formats::Csr again = formats::transpose(changed.view());
      std::vector<std::byte> to(static_cast<std::size_t>(again.values.view().bytes()));
      runtime::cuda::put_values_on(run, *made, changed.values.data(), to.data());
      CHECK((to.empty() || std::memcmp(to.data(), again.values.data(), to.size()) == 0));
    }
  }
}

TEST_CASE("device inputs: a transpose of what is no CSR matrix is refused") {
  const formats::Csr good = summed(few_entries());
  HostRun run;
  formats::Csr a = formats::copy(good.view());
  a.col_idx[4] = 7;
  const auto made = runtime::cuda::transpose_on(run, device_view(a), false);
  REQUIRE(!made);
  CHECK(made.error().message == formats::check_csr(a.view()).error().message);
  DeviceCsr csr = device_view(good);
  const std::vector<std::int32_t> order = {0, 1, 2};
  csr.row_order = order.data();
  CHECK(runtime::cuda::transpose_on(run, csr, false).error().code == Errc::usage);
  csr = device_view(good);
  csr.cols = -1;
  CHECK(runtime::cuda::transpose_on(run, csr, false).error().code == Errc::usage);
}

TEST_CASE("device inputs: matrices are the same when all bits are") {
  Random random(57);
  HostRun run;
  const auto same = [&](const formats::Csr& a, const formats::Csr& b) {
    const auto equal = runtime::cuda::equal_on(run, device_view(a), device_view(b));
    REQUIRE(equal);
    return *equal;
  };
  const auto is_symmetric = [&](const formats::Csr& a) { return same(a, formats::transpose(a.view())); };
  for (const DType dtype : {DType::none, DType::f16, DType::f32, DType::f64}) {
    CAPTURE(name_of(dtype));
    formats::Csr a = random_matrix(30, 30, 0.2, dtype, random);
    CHECK(same(a, a));
    CHECK(!is_symmetric(a));
    const Entries e = entries_of(a);
    Entries both{e.rows, e.cols, e.row, e.col, {}};
    for (std::int64_t i = 0; i < e.size(); ++i) {
      both.row.push_back(e.col[static_cast<std::size_t>(i)]);
      both.col.push_back(e.row[static_cast<std::size_t>(i)]);
    }
    formats::Csr symmetric = summed(both);
    CHECK(is_symmetric(symmetric));
    if (dtype == DType::none) continue;
    symmetric.values = formats::Array(dtype, symmetric.nnz());
    std::memset(symmetric.values.data(), 0, static_cast<std::size_t>(symmetric.values.view().bytes()));
    CHECK(is_symmetric(symmetric));
    // One bit of one value that is not on the diagonal.
    std::int64_t i = 0;
    while (symmetric.col_idx[i] == 0) ++i;
    static_cast<std::byte*>(symmetric.values.data())[static_cast<std::size_t>(i + 1) * size_of(dtype) - 1] =
        std::byte{0x80};
    CHECK(!is_symmetric(symmetric));
  }
  CHECK(!is_symmetric(random_matrix(3, 4, 1, DType::f32, random)));
}

TEST_CASE("device inputs: value_source by itself is that of the CPU") {
  Random random(58);
  HostRun run;
  for (const DType dtype : {DType::none, DType::f16, DType::f32, DType::f64})
    for (const bool ordered : {false, true}) {
      const formats::Csr a = random_matrix(333, 250, 0.05, dtype, random);
      std::vector<std::int32_t> order = random_order(a.rows, random);
      if (!ordered) std::sort(order.begin(), order.end());
      DeviceCsr csr = device_view(a);
      if (ordered) csr.row_order = order.data();
      for (const auto& conversion : runtime::cuda::kDeviceConversions<HostRun>) {
        CAPTURE(conversion.layout->name);
        const Formatted expected = format_matrix(a, conversion.layout->name, order);
        const auto made = runtime::cuda::value_source_on(run, expected.data.view(), csr, {});
        REQUIRE_MESSAGE(made.has_value(), made.error().text());
        REQUIRE(made->positions.size == a.nnz());
        CHECK(std::memcmp(made->positions.data, expected.value_source.data(),
                          static_cast<std::size_t>(8 * a.nnz())) == 0);
      }
    }
}

TEST_CASE("device inputs: value_source of formats with a parameter, and of those made otherwise") {
  Random random(59);
  HostRun run;
  const formats::Csr a = random_matrix(200, 300, 0.1, DType::f32, random);
  const auto positions = [&](std::string_view format, int parameter) {
    const auto at = formats::find_converter(format)->from_csr_at;
    return format_matrix(
        a, [=](const formats::CsrView& csr, Progress* progress) { return at(csr, parameter, progress); },
        [&] {
          std::vector<std::int32_t> same(static_cast<std::size_t>(a.rows));
          std::iota(same.begin(), same.end(), 0);
          return same;
        }());
  };
  struct Case {
    const char* format;
    int parameter, other;
  };
  for (const Case& c : {Case{"libra_spmm", 2, 5},
                        {"libra_sddmm", 9, 20},
                        {"tall", 16, 64},
                        {"tall", 128, 32},
                        {"rs_tile", formats::parse_fields(formats::kRsTileLayout, "split=1").value(),
                         formats::parse_fields(formats::kRsTileLayout, "split=3").value()},
                        {"hc_window", formats::hc_parameter(formats::kHcAllTensor),
                         formats::hc_parameter(formats::kHcAllCuda)}}) {
    CAPTURE(c.format);
    CAPTURE(c.parameter);
    const Formatted expected = positions(c.format, c.parameter);
    const auto made =
        runtime::cuda::value_source_on(run, expected.data.view(), device_view(a), {.parameter = c.parameter});
    REQUIRE_MESSAGE(made.has_value(), made.error().text());
    CHECK(std::memcmp(made->positions.data, expected.value_source.data(),
                      static_cast<std::size_t>(8 * a.nnz())) == 0);
    const auto other =
        runtime::cuda::value_source_on(run, expected.data.view(), device_view(a), {.parameter = c.other});
    REQUIRE(!other);
    CHECK(other.error().code == Errc::bad_input);
  }
  const Formatted tall = positions("tall", 16);
  CHECK(
      runtime::cuda::value_source_on(run, tall.data.view(), device_view(a), {.parameter = 17}).error().code ==
      Errc::usage);
  formats::Csr changed = formats::copy(a.view());
  changed.col_idx[a.row_ptr[100] - 1] = 299;
  CHECK(!runtime::cuda::value_source_on(run, tall.data.view(), device_view(changed), {.parameter = 16}));
}
