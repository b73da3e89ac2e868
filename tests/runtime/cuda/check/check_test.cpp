// The steps of the checks on devices, run on the host: they refuse what formats::check refuses, and nothing
// else.
#include <doctest/doctest.h>

#include <bit>
#include <limits>
#include <numeric>

#include "formats/core/random.hpp"
#include "runtime/cuda/check/format_checks.hpp"
#include "tests/runtime/cuda/convert/convert_cases.hpp"
#include "tests/runtime/cuda/convert/counting_run.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::cuda::DeviceFormat;

namespace {

const auto& kChecks = runtime::cuda::kFormatChecks<HostRun>;

bool holds(const DeviceFormat& format, bool backwards = false) {
  HostRun run(backwards);
  std::uint32_t fault = 0;
  REQUIRE(runtime::cuda::check_format_on(run, format, &fault));
  return fault == 0;
}

DeviceFormat on_device(const formats::FormatView& view) {
  DeviceFormat format;
  format.view = view;
  return format;
}

/// Changes one element of an array in one of many ways.
template <class T>
void change(T* array, std::int64_t size, RandomStream& random) {
  T& element = array[random.below(size)];
  const T other = array[random.below(size)];
  const std::int64_t way = random.below(8);
  if (way < 2) element = static_cast<T>(element ^ T{1} << random.below(8 * sizeof(T)));
  if (way == 2) element = static_cast<T>(static_cast<std::uint64_t>(element) + 1);
  if (way == 3) element = static_cast<T>(static_cast<std::uint64_t>(element) - 1);
  if (way == 4) element = other;
  if (way == 5) element = 0;
  if (way == 6) element = std::numeric_limits<T>::max();
  if (way == 7) element = static_cast<T>(random.next());
}

void change(formats::Array& array, RandomStream& random) {
  void* const data = array.data();
  if (array.dtype() == DType::u8) change(static_cast<std::uint8_t*>(data), array.size(), random);
  if (array.dtype() == DType::i32) change(static_cast<std::int32_t*>(data), array.size(), random);
  if (array.dtype() == DType::u32) change(static_cast<std::uint32_t*>(data), array.size(), random);
  if (array.dtype() == DType::i64) change(static_cast<std::int64_t*>(data), array.size(), random);
  if (array.dtype() == DType::u64) change(static_cast<std::uint64_t*>(data), array.size(), random);
}

struct Verdicts {
  int accepted = 0, refused = 0;
};

/// Changes an array, asks both checks, and changes it back; again and again.
Verdicts compare_changed(formats::FormatData& data, std::size_t number, RandomStream& random, int times) {
  formats::Array& array = data.arrays[number];
  const auto bytes = static_cast<std::size_t>(array.view().bytes());
  const auto* const begin = static_cast<const std::byte*>(array.data());
  const std::vector<std::byte> before(begin, begin + bytes);
  Verdicts verdicts;
  for (int i = 0; i < times; ++i) {
    for (std::int64_t changes = 1 + random.below(2); changes > 0; --changes) change(array, random);
    const formats::FormatView view = data.view();
    if (data.layout->check_offsets(view, 1)) {
      const Status host = formats::check(view);
      CAPTURE((host ? "good" : host.error().message));
      CHECK(holds(on_device(view), i % 2 != 0) == host.has_value());
      ++(host ? verdicts.accepted : verdicts.refused);
    }
    std::memcpy(array.data(), before.data(), bytes);
  }
  return verdicts;
}

/// Two windows of some tiles whose columns are nearly always as they should be.
struct AnyTiles {
  std::vector<std::int32_t> windows{0}, columns;
  std::vector<std::uint32_t> offset{0};
  std::vector<std::uint64_t> masks;

  explicit AnyTiles(RandomStream& random) {
    for (int w = 0; w < 2; ++w) {
      std::int32_t previous = -1;
      for (std::int64_t tiles = random.below(3); tiles > 0; --tiles) add_tile(random, tiles == 1, previous);
      windows.push_back(static_cast<std::int32_t>(masks.size()));
    }
  }
  void add_tile(RandomStream& random, bool last, std::int32_t& previous) {
    const std::uint64_t some = random.below(4) == 0 ? static_cast<std::uint64_t>(random.below(256))
                                                    : (std::uint64_t{1} << random.below(9)) - 1;
    masks.push_back(last || random.below(20) == 0 ? some : 0xFF);
    offset.push_back(offset.back() + static_cast<std::uint32_t>(std::popcount(masks.back())));
    for (int c = 0; c < 8; ++c) {
      previous += (masks.back() >> c & 1) != 0 ? 1 : 0;
      columns.push_back(previous);
    }
  }
  [[nodiscard]] formats::FormatView view() const {
    formats::FormatView all{&formats::kBitTcfLayout, 16, 16, offset.back(), {}};
    all.array(formats::BitTcfArray::row_window_offset) = ArrayView(std::span(windows));
    all.array(formats::BitTcfArray::tc_offset) = ArrayView(std::span(offset));
    all.array(formats::BitTcfArray::tc_local_bit) = ArrayView(std::span(masks));
    all.array(formats::BitTcfArray::sparse_a_to_b) = ArrayView(std::span(columns));
    return all;
  }
};

}  // namespace

TEST_CASE("checks on devices: tiles with gaps, without entries, with padding in front of others") {
  RandomStream random(16);
  Verdicts verdicts;
  for (int i = 0; i < 20'000; ++i) {
    const AnyTiles tiles(random);
    const formats::FormatView view = tiles.view();
    const Status host = formats::check(view);
    CAPTURE((host ? "good" : host.error().message));
    CHECK(holds(on_device(view)) == host.has_value());
    ++(host ? verdicts.accepted : verdicts.refused);
  }
  CHECK(verdicts.accepted > 5000);
  CHECK(verdicts.refused > 5000);
}

TEST_CASE("checks on devices: what conversions make is good") {
  for (const auto& of : convert_cases())
    for (const auto& check : kChecks) {
      CAPTURE(of.name);
      CAPTURE(std::string(check.layout->name));
      const bool has_offsets = check.layout->check_offsets != nullptr;
      REQUIRE(has_offsets);
      const auto data = formats::find_converter(check.layout->name)->from_csr(of.matrix.view(), nullptr);
      REQUIRE(data);
      CHECK(holds(on_device(data->view())));
      CHECK(holds(on_device(data->view()), true));
    }
}

TEST_CASE("checks on devices: changed arrays have the verdict of the host") {
  RandomStream random(14);
  for (const auto& check : kChecks) {
    Verdicts all;
    for (const auto& of : convert_cases()) {
      auto data = formats::find_converter(check.layout->name)->from_csr(of.matrix.view(), nullptr);
      REQUIRE(data);
      for (std::size_t i = 0; i < data->arrays.size(); ++i) {
        if (check.layout->arrays[i].holds_values || data->arrays[i].size() == 0) continue;
        CAPTURE(of.name);
        CAPTURE(std::string(check.layout->name));
        CAPTURE(std::string(check.layout->arrays[i].name));
        const Verdicts some = compare_changed(*data, i, random, 120);
        all.accepted += some.accepted;
        all.refused += some.refused;
      }
    }
    CHECK(all.accepted > 100);
    CHECK(all.refused > 1000);
  }
}

TEST_CASE("checks on devices: orders are permutations") {
  const formats::Csr a = [] {
    Random random(3);
    return random_matrix(700, 90, DType::f32, random, [](std::int64_t, std::int64_t) { return 0.1; });
  }();
  RandomStream random(15);
  const auto data = formats::find_converter("bmat")->from_csr(a.view(), nullptr);
  REQUIRE(data);
  DeviceFormat format = on_device(data->view());
  std::vector<std::int32_t> order = random_permutation(a.rows, random);
  std::vector<std::int64_t> source(static_cast<std::size_t>(a.nnz()));
  std::iota(source.rbegin(), source.rend(), 0);
  format.row_order = order.data();
  format.value_source = ArrayView(std::span<const std::int64_t>(source));
  CHECK(holds(format));
  CHECK(holds(format, true));
  const auto refused = [&](auto& array, std::int64_t wrong) {
    const auto at = static_cast<std::size_t>(random.below(std::ssize(array)));
    const auto right = array[at];
    array[at] = static_cast<std::remove_cvref_t<decltype(right)>>(wrong);
    CHECK(holds(format) == (array[at] == right));
    array[at] = right;
  };
  for (int i = 0; i < 100; ++i)
    for (const std::int64_t wrong : {-1L, -64L, a.rows, a.nnz(), 1L << 40, random.below(a.rows)}) {
      refused(source, wrong);
      if (wrong < 1L << 31) refused(order, wrong);
    }
  refused(source, std::numeric_limits<std::int64_t>::min());
  CHECK(holds(format));
}

TEST_CASE("checks on devices: entries that two windows of bmat exchange") {
  Random random(5);
  const formats::Csr a =
      random_matrix(64, 30, DType::none, random, [](std::int64_t, std::int64_t) { return 0.5; });
  auto data = formats::find_converter("bmat")->from_csr(a.view(), nullptr);
  REQUIRE(data);
  auto* const offset = static_cast<std::int64_t*>(
      data->arrays[static_cast<std::size_t>(formats::BmatArray::value_offset)].data());
  ++offset[2];
  REQUIRE(data->layout->check_offsets(data->view(), 1));
  REQUIRE_FALSE(formats::check(data->view()));
  CHECK_FALSE(holds(on_device(data->view())));
}

TEST_CASE("checks on devices: an entry of bmat in a row past the end, with every count as before") {
  Random random(9);
  const formats::Csr a =
      random_matrix(20, 12, DType::none, random, [](std::int64_t, std::int64_t) { return 1.0; });
  auto data = formats::find_converter("bmat")->from_csr(a.view(), nullptr);
  REQUIRE(data);
  const formats::BmatView view = formats::as_bmat(data->view());
  auto* const word =
      static_cast<std::uint32_t*>(data->arrays[static_cast<std::size_t>(formats::BmatArray::bits)].data()) +
      4 * view.row_window_offset[1];  // of the window that has 4 rows
  REQUIRE(word[0] == 0xFFFF);
  for (const auto& [first, second] : {std::pair{0x1FFFEU, 0U}, std::pair{0xFFFEU, 1U}}) {
    word[0] = first;
    word[1] = second;
    REQUIRE_FALSE(formats::check(data->view()));
    CHECK_FALSE(holds(on_device(data->view())));
  }
  word[0] = 0xFFFF;
  word[1] = 0;
  CHECK(holds(on_device(data->view())));
}

TEST_CASE("checks on devices: few launches, memory only where something is counted or ordered, no waits") {
  Random random(10);
  const formats::Csr a =
      random_matrix(90, 80, DType::f32, random, [](std::int64_t, std::int64_t) { return 0.2; });
  const std::vector<std::int32_t> order = random_permutation(a.rows, RandomStream(1));
  for (const auto& check : kChecks) {
    CAPTURE(std::string(check.layout->name));
    const auto data = formats::find_converter(check.layout->name)->from_csr(a.view(), nullptr);
    REQUIRE(data);
    DeviceFormat format = on_device(data->view());
    const auto counts = [&] {
      CountingRun run;
      std::uint32_t fault = 0;
      REQUIRE(runtime::cuda::check_format_on(run, format, &fault));
      CHECK(run.counts.waits == 0);
      return run.counts;
    };
    CHECK(counts().launches == (check.counts_windows ? 3 : 1));
    CHECK(counts().work == (check.counts_windows ? 1 : 0));
    format.row_order = order.data();
    CHECK(counts().launches == (check.counts_windows ? 4 : 3));
    CHECK(counts().work == 1);
  }
}
