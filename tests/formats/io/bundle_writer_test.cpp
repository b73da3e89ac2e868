#include "formats/io/bundle_writer.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>

#include "formats/layout/csr.hpp"
#include "runtime/bundle.hpp"
#include "tests/bundle_sample.hpp"
#include "tests/temporary_folder.hpp"

using namespace sptile;
using namespace sptile::formats;
namespace fs = std::filesystem;

namespace {

constexpr DType kNone = DType::none;

std::shared_ptr<const runtime::Bundle> opened(const std::string& path, bool copy = false) {
  auto bundle = runtime::Bundle::open(path, {.copy = copy});
  if (!bundle) FAIL(bundle.error().text());
  return *bundle;
}

void check_same_as_sample(const runtime::Bundle& bundle, const BundleSample& sample) {
  const CsrView csr = sample.csr();
  CHECK(bundle.rows() == 3);
  CHECK(bundle.cols() == 5);
  CHECK(bundle.nnz() == 5);
  CHECK(bundle.is_pattern() == csr.is_pattern());
  CHECK(bundle.dtype() == csr.values.dtype);
  CHECK(same(ArrayView(bundle.csr().row_ptr), ArrayView(csr.row_ptr)));
  CHECK(same(ArrayView(bundle.csr().col_idx), ArrayView(csr.col_idx)));
  CHECK(same(bundle.csr().values, csr.values));
  CHECK(same(ArrayView(bundle.row_order()), ArrayView(sample.row_order())));
  REQUIRE(bundle.format("bittcf") != nullptr);
  for (std::size_t i = 0; i < kBitTcfLayout.arrays.size(); ++i)
    CHECK(same(bundle.format("bittcf")->arrays[i], sample.bittcf().arrays[i]));
  for (const runtime::BundleArray& array : bundle.arrays()) CHECK(bundle.verify_checksum(array));
  for (const FormatView& view : bundle.formats()) CHECK(check(view));
}

}  // namespace

TEST_CASE("what is written is what is opened, for every type of values, mapped and copied") {
  const TemporaryFolder folder;
  const std::pair<DType, DType> kinds[] = {{DType::f32, DType::f32},
                                           {DType::f32, DType::f16},
                                           {DType::f32, DType::bf16},
                                           {DType::f64, DType::f64},
                                           {kNone, kNone}};
  int serial = 0;
  for (const auto& [csr_values, format_values] : kinds) {
    const std::string path = folder / ("kind" + std::to_string(serial++) + ".h5");
    const BundleSample sample(csr_values, format_values);
    const auto size = sample.write(path);
    REQUIRE_MESSAGE(size, size.error().text());
    CHECK(*size == fs::file_size(path));
    for (const bool copy : {false, true}) check_same_as_sample(*opened(path, copy), sample);
    CHECK(same(opened(path)->value_source("bittcf"),
               csr_values == kNone ? ArrayView() : sample.value_source()));
  }
}
