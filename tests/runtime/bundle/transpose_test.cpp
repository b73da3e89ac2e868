// Bundles that hold A^T, and those whose A is its own.
#include <doctest/doctest.h>

#include <cstring>
#include <functional>
#include <optional>

#include "runtime/bundle/bundle_matrix.hpp"
#include "runtime/operation/attention_gradient_t.hpp"
#include "runtime/plan/choice.hpp"
#include "tests/bundle_image.hpp"
#include "tests/runtime/head_problem.hpp"
#include "tests/runtime/transposed_bundle.hpp"

using namespace sptile;
using namespace sptile::formats;
using namespace sptile::test;
using runtime::Bundle;

namespace {

std::shared_ptr<const Bundle> opened(const std::string& path) {
  auto bundle = Bundle::open(path);
  if (!bundle) FAIL(bundle.error().text());
  return *bundle;
}

std::shared_ptr<const Bundle> bundle_of(const CsrView& a, const Contents& contents) {
  const TemporaryFolder folder;
  const Status written = write(folder / "a.h5", a, contents);
  if (!written) FAIL(written.error().text());
  return opened(folder / "a.h5");
}

void check_product(const runtime::PlanMatrix& matrix, const CsrView& expected, ArrayView refreshed = {}) {
  constexpr std::int64_t kN = 5;
  const auto plan = runtime::plan_spmm(matrix, {.n = kN, .threads = 1, .refreshable = refreshed.present()});
  REQUIRE_MESSAGE(plan, plan.error().text());
  if (refreshed.present()) REQUIRE(runtime::refresh_values(**plan, refreshed));
  test::Random random(2);
  const Array b = test::random_values(expected.cols * kN, DType::f32, random);
  Array c(DType::f32, std::max<std::int64_t>(expected.rows, 1) * kN);
  const runtime::SpmmOperands operands{b.data(), kN, c.data(), kN, 1, 0};
  REQUIRE(runtime::run(**plan, operands));
  CHECK(runtime::relative_error(expected, kN, DType::f32, operands) <=
        runtime::tolerated_error(expected, DType::f32));
}

constexpr std::string_view kAll[] = {"csr", "bittcf", "rs_tile"};

}  // namespace

TEST_CASE("formats of the transpose are found, and multiply by it") {
  for (const DType type : {DType::f32, DType::f64, DType::none}) {
    const Csr a = rectangular(type), t = transpose(a.view());
    const auto bundle = bundle_of(a.view(), {});
    CHECK(bundle->symmetric() == false);
    CHECK(bundle->formats(Side::transpose).size() == std::size(kAll));
    CHECK(bundle->formats().size() == std::size(kAll));
    CHECK(std::ranges::equal(bundle->row_order(Side::transpose), reversed(21)));
    CHECK(std::ranges::equal(bundle->row_order(), reversed(37)));
    for (const std::string_view name : kAll) {
      const FormatView* view = bundle->format(name, Side::transpose);
      REQUIRE(view != nullptr);
      CHECK(view->rows == 21);
      CHECK(view->cols == 37);
      CHECK(bundle->value_source(name, Side::transpose).present() == (type != DType::none));
      const auto matrix = runtime::matrix_of(bundle, name, Side::transpose);
      REQUIRE(matrix);
      CHECK(matrix->transposed);
      if (type == DType::f64) continue;  // operands here are f32
      check_product(*matrix, t.view());
      check_product(*runtime::matrix_of(bundle, name), a.view());
    }
    CHECK(runtime::matrices_of(bundle, "auto", Side::transpose)->size() == std::size(kAll));
    CHECK(runtime::matrices_of(bundle, "rs_tile,csr", Side::transpose)->front().format.cols == 37);
  }
}

TEST_CASE("the gradient of attention for columns is planned on the transpose, in the format that has it") {
  const Csr a = rectangular(), t = transpose(a.view());
  const auto bundle = bundle_of(a.view(), {});
  const runtime::Operation& op = runtime::kAttentionGradientT;
  test::Random random(3);
  test::HeadProblem p(op, t, {.m = 7}, 5, DType::f32, {2, 1, true}, random);
  const auto matrices = runtime::matrices_of(bundle, "auto", Side::transpose);
  REQUIRE(matrices);
  const auto plan = runtime::plan_product(op, *matrices, {.n = 5, .threads = 1, .variant = p.variant()});
  REQUIRE_MESSAGE(plan, plan.error().text());
  CHECK(runtime::kernel_name(**plan).starts_with("cpu.csr.attention_gradient_t."));
  REQUIRE(runtime::run(**plan, op, p.operands()));
  CHECK(p.error() <= p.tolerance());
  CHECK(p.gaps_are_untouched());
}

TEST_CASE("new values of the matrix are new values of its transpose, whether or not they are symmetric") {
  test::Random random(6);
  const std::pair<Csr, bool> cases[] = {{rectangular(), false}, {symmetric(), true}};
  for (const auto& [a, equal] : cases) {
    const auto bundle = bundle_of(a.view(), {.symmetric = equal});
    Csr changed = copy(a.view());
    changed.values = test::random_values(a.nnz(), DType::f32, random);
    const Csr t = transpose(changed.view());
    for (const std::string_view name : kAll)
      check_product(*runtime::matrix_of(bundle, name, Side::transpose), t.view(), changed.values.view());
  }
}

TEST_CASE("a transpose without the sources of its values cannot be refreshed") {
  const std::pair<Csr, bool> cases[] = {{rectangular(), false}, {symmetric(), true}};
  for (const auto& [a, equal] : cases) {
    const auto bundle = bundle_of(a.view(), {.transpose = !equal, .refreshable = false, .symmetric = equal});
    for (const std::string_view name : kAll) {
      const auto matrix = runtime::matrix_of(bundle, name, Side::transpose);
      REQUIRE(matrix);
      const auto plan = runtime::plan_spmm(*matrix, {.n = 2, .refreshable = true});
      REQUIRE(!plan);
      CHECK(plan.error().code == Errc::usage);
    }
    CHECK(runtime::plan_spmm(*runtime::matrix_of(bundle, "csr"), {.n = 2, .refreshable = true}));
  }
}

TEST_CASE("the formats of a symmetric matrix are those of its transpose") {
  const Csr a = symmetric();
  REQUIRE(identical(a.view(), transpose(a.view()).view()));
  for (const bool refreshable : {false, true}) {
    const auto bundle =
        bundle_of(a.view(), {.transpose = refreshable, .refreshable = refreshable, .symmetric = true});
    CHECK(bundle->symmetric() == true);
    CHECK(&bundle->formats(Side::transpose) == &bundle->formats());
    CHECK(bundle->row_order(Side::transpose).data() == bundle->row_order().data());
    for (const std::string_view name : kAll) {
      CHECK(bundle->format(name, Side::transpose) == bundle->format(name));
      CHECK(bundle->value_source(name, Side::transpose).present() == refreshable);
      check_product(*runtime::matrix_of(bundle, name, Side::transpose), a.view());
    }
  }
}

TEST_CASE("a bundle without the transpose says how to make one with it") {
  for (const std::optional<bool> known : {std::optional<bool>(), std::optional<bool>(false)}) {
    const auto bundle = bundle_of(rectangular().view(), {.transpose = false, .symmetric = known});
    CHECK(bundle->symmetric() == known);
    CHECK(bundle->formats(Side::transpose).empty());
    CHECK(bundle->format("csr", Side::transpose) == nullptr);
    const auto matrix = runtime::matrix_of(bundle, "csr", Side::transpose);
    REQUIRE(!matrix);
    CHECK(matrix.error().code == Errc::usage);
    CHECK(matrix.error().message.find("sptile convert --transpose") != std::string::npos);
    CHECK(!runtime::matrices_of(bundle, {}, Side::transpose));
  }
  const auto other = runtime::matrix_of(bundle_of(rectangular().view(), {}), "bmat", Side::transpose);
  REQUIRE(!other);
  CHECK(other.error().message.find("no format bmat of the transpose; stored formats: csr, bittcf, rs_tile") !=
        std::string::npos);
}

namespace {

void resize(BundleEntry& e, std::uint64_t elements) {
  e.dims[0] = elements;
  e.bytes = elements * size_of(static_cast<DType>(e.dtype));
}

void rename(BundleEntry& e, std::string path) {
  path.resize(sizeof e.path);
  std::memcpy(e.path, path.data(), sizeof e.path);
}

void rename_group(Image& image, const std::string& from, const std::string& to) {
  for (BundleEntry& e : image.entries())
    if (const std::string path = e.path; path.starts_with(from)) rename(e, to + path.substr(from.size()));
}

struct Break {
  const char* message;
  std::function<void(Image&)> apply;
};

void check_breaks(const std::vector<std::byte>& bytes, std::span<const Break> breaks) {
  REQUIRE(Image(bytes).open());
  for (const Break& b : breaks) {
    CAPTURE(b.message);
    Image image(bytes);
    b.apply(image);
    image.seal();
    check_refused(image.open(), Errc::bad_input, b.message);
  }
}

}  // namespace

TEST_CASE("every lie about the arrays of the transpose is refused") {
  const Csr a = rectangular();
  const Break breaks[] = {
      {"/transpose/row_order has 20 elements, expected 21",
       [](Image& i) { resize(i.entry("/transpose/row_order"), 20); }},
      {"/transpose/row_order has type u32, expected i32",
       [](Image& i) { i.entry("/transpose/row_order").dtype = 3; }},
      {"/transpose/formats/csr/row_ptr is missing",
       [](Image& i) {
         rename(i.entry("/transpose/formats/csr/row_ptr"), "/transpose/formats/csr/row_pointer");
       }},
      {"/transpose/formats/csr/row_ptr is missing",
       [](Image& i) { rename_group(i, "/transpose/formats/csr", "/transpose/formats/newcsr"); }},
      {"csr: row_ptr",
       [](Image& i) { resize(i.entry("/transpose/formats/csr/row_ptr"), 38); }},  // as A has rows
      {"csr: col_idx", [](Image& i) { resize(i.entry("/transpose/formats/csr/col_idx"), 3); }},
      {"/transpose/formats/csr/values has type f16, expected f32",
       [](Image& i) {
         BundleEntry& e = i.entry("/transpose/formats/csr/values");
         e.dtype = static_cast<std::uint32_t>(DType::f16);
         resize(e, e.dims[0]);
       }},
      {"/transpose/formats/bittcf/tc_offset is missing",
       [](Image& i) {
         rename(i.entry("/transpose/formats/bittcf/tc_offset"), "/transpose/formats/bittcf/tc");
       }},
      {"/transpose/formats/bittcf/more is not an array of bittcf",
       [](Image& i) { rename(i.entry("/transpose/row_order"), "/transpose/formats/bittcf/more"); }},
      {"bittcf: row_window_offset",
       [](Image& i) { resize(i.entry("/transpose/formats/bittcf/row_window_offset"), 6); }},
      {"/transpose/formats/rs_tile/value_source has 3 elements",
       [](Image& i) { resize(i.entry("/transpose/formats/rs_tile/value_source"), 3); }},
      {"/transpose/formats/csr/value_source has 2 elements",
       [](Image& i) { resize(i.entry("/transpose/formats/csr/value_source"), 2); }},
      {"symmetric, but /shape is 37 x 21", [](Image& i) { i.header().may_ignore = kBundleSymmetric; }},
      {"both symmetric and not symmetric",
       [](Image& i) { i.header().may_ignore = kBundleSymmetric | kBundleNotSymmetric; }},
  };
  check_breaks(bytes_with(a.view(), {}), breaks);
}

TEST_CASE("arrays of the transpose of a symmetric matrix are refused, and positions that do not fit") {
  const Break breaks[] = {
      {"/transpose/row_order exists, but the header declares the matrix symmetric",
       [](Image& i) { rename(i.entry("/transpose/formats/bittcf/value_source"), "/transpose/row_order"); }},
      {"/transpose/formats/bittcf/tc_offset exists, but",
       [](Image& i) {
         rename(i.entry("/transpose/formats/bittcf/value_source"), "/transpose/formats/bittcf/tc_offset");
       }},
      {"/transpose/formats/bmat/value_source exists, but",  // a format that A is not held in
       [](Image& i) {
         rename(i.entry("/transpose/formats/bittcf/value_source"), "/transpose/formats/bmat/value_source");
       }},
      {"/transpose/formats/csr/value_source has 2 elements",
       [](Image& i) { resize(i.entry("/transpose/formats/csr/value_source"), 2); }},
      {"/transpose/formats/bittcf/value_source has type u64, expected i64",
       [](Image& i) { i.entry("/transpose/formats/bittcf/value_source").dtype = 5; }},
      {"/transpose/formats/csr/row_ptr is missing",  // not symmetric: A^T must be there
       [](Image& i) { i.header().may_ignore = kBundleNotSymmetric; }},
  };
  check_breaks(bytes_with(symmetric().view(), {.symmetric = true}), breaks);
  Image square(bytes_with(symmetric().view(), {}));
  square.header().may_ignore = kBundleSymmetric;
  square.seal();
  check_refused(square.open(), Errc::bad_input, "exists, but the header declares the matrix symmetric");
}

TEST_CASE("values of the transpose of a pattern are refused") {
  Image image(bytes_with(rectangular(DType::none).view(), {}));
  REQUIRE(image.open());
  Image values = Image(bytes_with(rectangular(DType::none).view(), {}));
  rename(values.entry("/transpose/row_order"), "/transpose/formats/csr/values");
  values.seal();
  check_refused(values.open(), Errc::bad_input,
                "/transpose/formats/csr/values exists, but the header declares a pattern");
  rename(image.entry("/transpose/row_order"), "/transpose/formats/csr/value_source");
  image.seal();
  check_refused(image.open(), Errc::bad_input, "a pattern has no values");
}

TEST_CASE(
    "unknown formats and arrays beside the transpose are left out; a reader that knows no transpose sees "
    "none") {
  Image image(bytes_with(rectangular().view(), {}));
  rename_group(image, "/transpose/formats/bittcf", "/transpose/formats/newtcf");
  image.seal();
  auto bundle = image.open();
  REQUIRE_MESSAGE(bundle, bundle.error().text());
  CHECK((*bundle)->formats(Side::transpose).size() == 2);
  rename_group(image, "/transpose", "/other");
  image.header().may_ignore = 0;
  image.seal();
  bundle = image.open();
  REQUIRE_MESSAGE(bundle, bundle.error().text());
  CHECK((*bundle)->formats(Side::transpose).empty());
  CHECK((*bundle)->symmetric() == std::nullopt);
}

TEST_CASE("what every reader would refuse of a transpose is not written") {
  const TemporaryFolder folder;
  const Csr a = rectangular(), t = transpose(a.view());
  auto writer = BundleWriter::create(folder / "a.h5", {});
  REQUIRE(writer);
  REQUIRE(writer->add_csr(a.view()));
  CHECK(writer->add_symmetry(true).error().code == Errc::usage);  // not square
  CHECK(writer->add_row_order(reversed(37), Side::transpose).error().code == Errc::usage);
  CHECK(writer->add_format(as_format(a.view()), {}, {}, Side::transpose).error().code == Errc::usage);
  Csr wide = copy(t.view());
  wide.values = convert_values(t.values.view(), DType::f64);
  CHECK(writer->add_format(as_format(wide.view()), {}, {}, Side::transpose).error().code == Errc::usage);
  CHECK(writer->add_format(as_format(t.view()), {}, t.values.view(), Side::transpose).error().code ==
        Errc::usage);
  const Csr s = symmetric();
  auto square = BundleWriter::create(folder / "b.h5", {});
  REQUIRE(square);
  REQUIRE(square->add_csr(s.view()));
  REQUIRE(square->add_symmetry(true));
  CHECK(square->add_format(as_format(s.view()), {}, {}, Side::transpose).error().code == Errc::usage);
  CHECK(square->add_transposed_source(kCsrLayout, s.values.view()).error().code == Errc::usage);
}
