// Conversions on a device give the bytes of those on the CPU.
#include "formats/layout/csr.hpp"
#include "formats/layout/registry.hpp"
#include "tests/gpu/csr_on_device.hpp"
#include "tests/runtime/cuda/convert/convert_cases.hpp"
#include "tests/runtime/cuda/convert/host_run.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::cuda::ConvertParameters;
using runtime::cuda::DeviceCsr;
using runtime::cuda::DeviceFormat;
using runtime::cuda::kDeviceConversions;

namespace {

/// A converted matrix in host memory.
struct Downloaded {
  std::vector<std::vector<std::byte>> arrays;
  formats::FormatView view;

  explicit Downloaded(const DeviceFormat& format) : view(format.view) {
    for (std::size_t i = 0; i < view.layout->arrays.size(); ++i) {
      arrays.emplace_back(static_cast<std::size_t>(view.arrays[i].bytes()));
      REQUIRE(runtime::cuda::download(0, view.arrays[i], arrays.back().data()));
      view.arrays[i].data = arrays.back().data();
    }
  }
};

DeviceFormat convert(std::string_view format, const DeviceCsr& csr,
                     const ConvertParameters& parameters = {}) {
  auto made = runtime::cuda::convert_on_device(*formats::find_layout(format), csr, parameters, nullptr);
  REQUIRE_MESSAGE(made.has_value(), made.error().text());
  return std::move(*made);
}

void check_conversion(const formats::Csr& a, std::string_view format, const DeviceCsr& csr) {
  CAPTURE(format);
  const auto expected = formats::find_converter(format)->from_csr(a.view(), nullptr);
  REQUIRE(expected);
  const DeviceFormat made = convert(format, csr);
  check_same(*expected, Downloaded(made).view, made.parameters);
}

}  // namespace

TEST_CASE("cuda convert: every format of many matrices, byte by byte") {
  for (const ConvertCase& one : convert_cases()) {
    CAPTURE(one.name);
    const CsrOnDevice device(one.matrix);
    for (const auto& conversion : kDeviceConversions<HostRun>)
      check_conversion(one.matrix, conversion.layout->name, device.csr);
  }
}

TEST_CASE("cuda convert: larger matrices, twice the same") {
  Random random(31);
  const auto skewed = [](std::int64_t r, std::int64_t c) {
    return r % 997 == 5 ? 0.3 : 2.0 / (20.0 + static_cast<double>((r * 7 + c) % 4000));
  };
  const formats::Csr a = random_matrix(6000, 4000, DType::f32, random, skewed);
  const CsrOnDevice device(a);
  for (int repeat = 0; repeat < 2; ++repeat)
    for (const auto& conversion : kDeviceConversions<HostRun>)
      check_conversion(a, conversion.layout->name, device.csr);
}

TEST_CASE("cuda convert: rows in another order, and where values stood") {
  Random random(32);
  const formats::Csr a = random_matrix(700, 900, 0.03, DType::f32, random);
  const auto order = random_order(a.rows, random);
  const CsrOnDevice device(a, order);
  for (const auto& conversion : kDeviceConversions<HostRun>) {
    const std::string_view format = conversion.layout->name;
    CAPTURE(format);
    const Formatted expected = format_matrix(a, format, order);
    const DeviceFormat made = convert(format, device.csr, {.with_source = true, .parameter = {}});
    check_same(expected.data, Downloaded(made).view, made.parameters);
    std::vector<std::int64_t> source(static_cast<std::size_t>(a.nnz()));
    REQUIRE(made.value_source.size == a.nnz());
    REQUIRE(runtime::cuda::download(0, made.value_source, source.data()));
    CHECK(std::memcmp(source.data(), expected.value_source.data(), source.size() * 8) == 0);
  }
}

TEST_CASE("cuda convert: what is no CSR matrix is refused with its place") {
  Random random(33);
  const formats::Csr good = random_matrix(90, 60, 0.2, DType::f32, random);
  const auto refused = [&](const std::function<void(formats::Csr&)>& change) {
    formats::Csr a = formats::copy(good.view());
    change(a);
    const CsrOnDevice device(a);
    const auto made =
        runtime::cuda::convert_on_device(*formats::find_layout("bittcf"), device.csr, {}, nullptr);
    REQUIRE(!made);
    CHECK(made.error().code == Errc::bad_input);
    CHECK(made.error().message == formats::check_csr(a.view()).error().message);
  };
  refused([](formats::Csr& a) { a.row_ptr[0] = 1; });
  refused([](formats::Csr& a) { a.row_ptr[40] = a.row_ptr[39] - 1; });
  refused([](formats::Csr& a) { a.row_ptr[40] = std::int64_t{1} << 40; });
  refused([](formats::Csr& a) { a.row_ptr[90] -= 1; });
  refused([](formats::Csr& a) { a.col_idx[0] = -1; });
  refused([](formats::Csr& a) { a.col_idx[100] = 60; });
  refused([](formats::Csr& a) { a.col_idx[a.row_ptr[7] + 1] = a.col_idx[a.row_ptr[7]]; });
}
