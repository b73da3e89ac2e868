// Bundles of more than one matrix.
#include <doctest/doctest.h>

#include "formats/layout/csr.hpp"
#include "runtime/bundle/bundle_matrix.hpp"
#include "tests/bundle_image.hpp"
#include "tests/bundle_sample.hpp"
#include "tests/temporary_folder.hpp"

using namespace sptile;
using namespace sptile::formats;
using runtime::Bundle;

namespace {

// [. 7 / 8 9], in memory of its own.
struct Second {
  std::array<std::int64_t, 3> row_ptr{0, 1, 3};
  std::array<std::int32_t, 3> col_idx{1, 0, 1};
  std::array<float, 3> values{7, 8, 9};
  std::array<std::int32_t, 2> ids{4, 5};

  [[nodiscard]] CsrView csr() const { return {2, 2, row_ptr, col_idx, {DType::f32, values.data(), 3}}; }
};

Status write_two(const std::string& path) {
  const BundleSample first;
  const Second second;
  auto writer = BundleWriter::create(path, {});
  if (!writer) return tl::unexpected(writer.error());
  Status s = writer->add_csr(first.csr());
  if (s) s = writer->add_symmetry(false);
  if (s) s = writer->add_row_order(first.row_order());
  if (s) s = writer->add_format(first.bittcf(), {}, first.value_source());
  if (s) s = writer->begin_matrix("halo");
  if (s) s = writer->add_csr(second.csr());
  if (s) s = writer->add_format(as_format(second.csr()), {}, {}, Side::transpose);
  const std::pair<std::string_view, ArrayView> beside[] = {{"ids", {DType::i32, second.ids.data(), 2}}};
  if (s) s = writer->add_arrays("/part", beside);
  return s ? writer->commit().map([](auto) {}) : s;
}

}  // namespace

TEST_CASE("each matrix of a bundle is opened by its name, and planned like any other") {
  const TemporaryFolder folder;
  const std::string path = folder / "two.h5";
  REQUIRE(write_two(path));
  const auto first = Bundle::open(path), second = Bundle::open(path, {.matrix = "halo"});
  REQUIRE(first);
  REQUIRE_MESSAGE(second, second.error().text());
  CHECK((*first)->rows() == 3);
  CHECK((*first)->cols() == 5);
  CHECK((*first)->symmetric() == false);
  CHECK((*first)->formats().size() == 2);
  CHECK((*first)->formats(Side::transpose).empty());
  CHECK((*second)->rows() == 2);
  CHECK((*second)->nnz() == 3);
  CHECK_FALSE((*second)->symmetric());
  CHECK((*second)->row_order().empty());
  CHECK((*second)->csr().values.as<float>()[2] == 9);
  CHECK((*second)->formats(Side::transpose).size() == 1);
  const auto planned = runtime::matrix_of(*second, "csr", Side::transpose);
  REQUIRE(planned);
  CHECK(planned->format.rows == 2);
  for (const auto& bundle : {*first, *second}) {
    CHECK(bundle->array("/part/ids").as<std::int32_t>()[1] == 5);
    CHECK_FALSE(bundle->array("/part/none").present());
    for (const runtime::BundleArray& array : bundle->arrays()) CHECK(bundle->verify_checksum(array));
  }
}

TEST_CASE("matrices of one open file are of one bundle, whatever has its name by then") {
  const TemporaryFolder folder;
  const std::string path = folder / "two.h5";
  REQUIRE(write_two(path));
  for (const bool copy : {false, true}) {
    const auto first = Bundle::open(path, {.copy = copy});
    REQUIRE(first);
    std::filesystem::rename(path, folder / "kept.h5");
    REQUIRE(BundleSample().write(path));  // has no second matrix
    const auto second = (*first)->other("halo");
    REQUIRE_MESSAGE(second, second.error().text());
    CHECK((*second)->rows() == 2);
    CHECK((*second)->csr().values.as<float>()[2] == 9);
    CHECK((*second)->content() == (*first)->content());
    const auto third = (*second)->other("");
    REQUIRE(third);
    CHECK((*third)->csr().row_ptr.data() == (*first)->csr().row_ptr.data());
    CHECK((*first)->other("none").error().message == "none: /shape is missing; convert again");
    std::filesystem::rename(folder / "kept.h5", path);
  }
}

TEST_CASE("a matrix that is not there is named") {
  const TemporaryFolder folder;
  const std::string path = folder / "one.h5";
  REQUIRE(BundleSample().write(path));
  const auto bundle = Bundle::open(path, {.matrix = "halo"});
  REQUIRE_FALSE(bundle);
  CHECK(bundle.error().code == Errc::bad_input);
  CHECK(bundle.error().message == "halo: /shape is missing; convert again");
}

TEST_CASE("matrices of one bundle have values of one type") {
  const TemporaryFolder folder;
  auto writer = BundleWriter::create(folder / "mixed.h5", {});
  REQUIRE(writer);
  REQUIRE(writer->add_csr(BundleSample(DType::f64).csr()));
  REQUIRE(writer->begin_matrix("halo"));
  const Second second;
  const Status s = writer->add_csr(second.csr());
  REQUIRE_FALSE(s);
  CHECK(s.error().message == "/halo has a different value type from the first matrix");
}
