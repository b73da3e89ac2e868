#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <functional>
#include <utility>

#include "formats/io/hdf5/bundle_writer.hpp"
#include "tests/bundle_image.hpp"
#include "tests/runtime/transposed_bundle.hpp"
#include "tests/seal_bundle.hpp"
#include "tools/bundle/checks.hpp"

using namespace sptile;
using namespace sptile::test;

namespace {

/// Names the first check that fails; nothing when all pass.
std::string first_failure(Image& image) {
  seal(image.bytes());
  const auto bundle = image.open();
  REQUIRE_MESSAGE(bundle, bundle.error().text());
  for (const tools::BundleCheck& check : tools::check_bundle(**bundle, nullptr))
    if (!check.outcome) return check.name;
  return "";
}

template <class T>
std::span<T> data_of(Image& image, std::string_view path) {
  const BundleEntry& e = image.entry(path);
  return {reinterpret_cast<T*>(image.bytes().data() + e.offset), e.bytes / sizeof(T)};
}

struct Damage {
  const char* found_by;
  std::function<void(Image&)> apply;
};

template <class T>
void swap_ends(Image& image, std::string_view path) {
  const std::span<T> data = data_of<T>(image, path);
  std::swap(data.front(), data.back());
}

void check_damages(const std::vector<std::byte>& bytes, std::span<const Damage> damages) {
  Image sound(bytes);
  CHECK(first_failure(sound) == "");
  for (const Damage& damage : damages) {
    Image image(bytes);
    damage.apply(image);
    CHECK(first_failure(image) == damage.found_by);
  }
}

/// A bundle with a CPU plan of csr: its rows in two runs.
std::vector<std::byte> bytes_with_plan(const Csr& a) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  REQUIRE(write(path, a.view(), {.transpose = false}));
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  auto writer = formats::BundleWriter::extend(fd, path);
  REQUIRE(writer);
  const std::vector<std::int64_t> runs = {2, 1, a.rows, 1};
  const std::int64_t count = 2;
  REQUIRE(
      writer->add_plan("sptile-plan 1\nop spmm\nside matrix\nformat csr\nkernel cpu.csr.avx2\nversion 1\n"
                       "n 8\ndevice cpu\nthreads 1\n",
                       std::span(&count, 1), std::as_bytes(std::span(runs))));
  REQUIRE(writer->commit());
  ::close(fd);
  return bytes_of(path);
}

}  // namespace

TEST_CASE("a stored division that is not one of the matrix is found") {
  const char* const found_by = "plan /plans/0000";
  const Damage damages[] = {
      {found_by, [](Image& i) { data_of<std::int64_t>(i, "/plans/0000/schedule")[0] = 0; }},
      {found_by, [](Image& i) { ++data_of<std::int64_t>(i, "/plans/0000/schedule")[2]; }},
      {found_by, [](Image& i) { --data_of<std::int64_t>(i, "/plans/0000/schedule")[2]; }},
      {found_by, [](Image& i) { data_of<std::int64_t>(i, "/plans/0000/schedule")[1] = 1 << 20; }},
      {found_by,
       [](Image& i) { data_of<std::int64_t>(i, "/plans/0000/numbers")[0] = std::int64_t{1} << 60; }},
      {"", [](Image& i) { data_of<std::int64_t>(i, "/plans/0000/schedule")[0] = 3; }},  // another division
  };
  check_damages(bytes_with_plan(rectangular()), damages);
}

TEST_CASE("a transpose that is not that of the matrix is found, array by array") {
  const Damage damages[] = {
      {"transpose row_order", [](Image& i) { data_of<std::int32_t>(i, "/transpose/row_order")[3] = 21; }},
      {"transpose contents csr",
       [](Image& i) { data_of<std::int32_t>(i, "/transpose/formats/csr/col_idx")[0] = 37; }},
      {"transpose round trip csr",
       [](Image& i) { data_of<float>(i, "/transpose/formats/csr/values")[2] += 1; }},
      {"transpose value source csr",
       [](Image& i) { swap_ends<std::int64_t>(i, "/transpose/formats/csr/value_source"); }},
      {"transpose contents bittcf",
       [](Image& i) { data_of<std::int32_t>(i, "/transpose/formats/bittcf/sparse_a_to_b")[0] = -1; }},
      {"transpose round trip bittcf", [](Image& i) { swap_ends<std::int32_t>(i, "/transpose/row_order"); }},
      {"transpose value source rs_tile",
       [](Image& i) { swap_ends<std::int64_t>(i, "/transpose/formats/rs_tile/value_source"); }},
  };
  check_damages(bytes_with(rectangular().view(), {}), damages);
}

TEST_CASE(
    "a header that is wrong about symmetry is found, as are positions that do not lead across the diagonal") {
  const Damage damages[] = {
      {"transpose value source csr",
       [](Image& i) { swap_ends<std::int64_t>(i, "/transpose/formats/csr/value_source"); }},
      {"transpose value source bittcf",
       [](Image& i) {
         std::ranges::copy(data_of<std::int64_t>(i, "/formats/bittcf/value_source"),
                           data_of<std::int64_t>(i, "/transpose/formats/bittcf/value_source").begin());
       }},
  };
  check_damages(bytes_with(symmetric().view(), {.symmetric = true}), damages);
  const Damage wrong[] = {
      {"symmetry", [](Image& i) { i.header().may_ignore = formats::kBundleNotSymmetric; }}};
  check_damages(bytes_with(symmetric().view(), {.transpose = false, .symmetric = true}), wrong);
  Csr other = symmetric();
  other.values.as<float>().front() += 1;
  other.values.as<float>()[1] += 1;  // one of them at least is not on the diagonal
  const Damage claimed[] = {
      {"symmetry", [](Image& i) { i.header().may_ignore = formats::kBundleSymmetric; }}};
  check_damages(bytes_with(other.view(), {.transpose = false, .symmetric = false}), claimed);
}
