// One property suite over all formats: whatever the matrix, a conversion gives what the definition says, and
// its inverse gives the matrix back.
#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <numeric>

#include "formats/convert/packed_positions.hpp"
#include "formats/layout/blocks.hpp"
#include "formats/layout/registry.hpp"
#include "tests/formats/slow_formats.hpp"

using namespace sptile;
using namespace sptile::formats;
using namespace sptile::tests;

namespace {

FormatData convert(const Converter& converter, const CsrView& a) {
  Result<FormatData> data = converter.from_csr(a, nullptr);
  REQUIRE_MESSAGE(data.has_value(), data.error().text());
  return std::move(*data);
}

bool same_bytes(const FormatView& x, const FormatView& y) {
  for (std::size_t i = 0; i < x.layout->arrays.size(); ++i) {
    if (x.arrays[i].dtype != y.arrays[i].dtype || x.arrays[i].size != y.arrays[i].size) return false;
    if (x.arrays[i].size > 0 &&
        std::memcmp(x.arrays[i].data, y.arrays[i].data, static_cast<std::size_t>(x.arrays[i].bytes())) != 0)
      return false;
  }
  return true;
}

/// Calls f(converter, sample) for every format and sample.
template <class F>
void for_all(const F& f) {
  for (const Sample& sample : sample_matrices())
    for (const Converter& converter : converters()) {
      CAPTURE(sample.name);
      CAPTURE(converter.format);
      f(converter, sample);
    }
}

constexpr DType kValueTypes[] = {DType::none, DType::f16, DType::bf16, DType::f32, DType::f64};

}  // namespace

TEST_CASE("formats: a conversion passes its check and its inverse gives exactly the matrix back") {
  for_all([](const Converter& converter, const Sample& sample) {
    for (const DType dtype : kValueTypes) {
      CAPTURE(name_of(dtype));
      const Csr a = make_csr(sample.cols, sample.rows, dtype);
      const FormatData data = convert(converter, a.view());
      const Status status = check(data.view());
      CHECK_MESSAGE(status.has_value(), status.error().text());
      const Result<Csr> back = converter.to_csr(data.view());
      REQUIRE(back.has_value());
      CHECK(identical(back->view(), a.view()));
    }
  });
}

TEST_CASE("formats: values have one type, and it is one that holds values") {
  for_all([](const Converter& converter, const Sample& sample) {
    const Csr a = make_csr(sample.cols, sample.rows, DType::f32);
    const FormatData data = convert(converter, a.view());
    const std::span<const ArraySpec> specs = data.layout->arrays;
    FormatView all = data.view();
    for (const DType wrong : {DType::u8, DType::i32, DType::u32, DType::i64, DType::u64}) {
      for (std::size_t i = 0; i < specs.size(); ++i)
        if (specs[i].holds_values) all.arrays[i].dtype = wrong;
      CHECK(data.layout->check_lengths(all).error().code == Errc::bad_input);
    }
    const auto arrays = std::ranges::count_if(specs, &ArraySpec::holds_values);
    for (std::size_t i = 0; i < specs.size() && arrays > 1; ++i)
      for (const DType other : {DType::none, DType::f16, DType::f64}) {
        FormatView mixed = data.view();
        if (specs[i].holds_values) mixed.arrays[i].dtype = other;
        CHECK(data.layout->check_lengths(mixed).has_value() != specs[i].holds_values);
      }
  });
}

TEST_CASE("formats: a conversion gives what the slow, obvious builder gives") {
  for_all([](const Converter& converter, const Sample& sample) {
    Csr a = make_csr(sample.cols, sample.rows, DType::none);
    std::vector<std::int64_t> positions(static_cast<std::size_t>(a.nnz()));
    for (std::size_t k = 0; k < positions.size(); ++k) positions[k] = static_cast<std::int64_t>(k);
    CsrView view = a.view();
    view.values = ArrayView(std::span<const std::int64_t>(positions));
    const FormatData data = convert(converter, view);
    const auto slow = kSlowFormats.find(std::string(converter.format));
    REQUIRE_MESSAGE(slow != kSlowFormats.end(), "formats/meson.build does not name this format");
    SlowArrays expected = slow->second(sample.rows, data.view());
    CHECK(expected.size() == data.layout->arrays.size());
    for (std::size_t i = 0; i < data.arrays.size(); ++i) {
      CAPTURE(data.layout->arrays[i].name);
      CHECK(elements(data.arrays[i].view()) == expected.at(std::string(data.layout->arrays[i].name)));
    }
  });
}

TEST_CASE("formats: sizes add up and the header fields are those of the matrix") {
  for_all([](const Converter& converter, const Sample& sample) {
    const Csr a = make_csr(sample.cols, sample.rows, DType::f32);
    const FormatData data = convert(converter, a.view());
    const FormatView view = data.view();
    CHECK(view.layout == find_layout(converter.format));
    CHECK(view.rows == a.rows);
    CHECK(view.cols == a.cols);
    CHECK(view.nnz == a.nnz());
    CHECK(value_bytes(view) == 4 * a.nnz());
    std::int64_t bytes = 0;
    for (const Array& array : data.arrays) bytes += array.view().bytes();
    CHECK(index_bytes(view) + value_bytes(view) == bytes);
    const Blocks blocks = blocks_of(view);
    const bool in_rows = blocks.rows.size() > 0 || !blocks.rows.offset.empty();
    if (blocks.placement == WindowPlacement::regular && !in_rows) {
      std::size_t tiles = 0;
      const auto height = static_cast<std::size_t>(blocks.window_rows);
      for (std::size_t first = 0; first < sample.rows.size(); first += height)
        tiles += tiles_of(sample.rows, first, height).size();
      CHECK(view.layout->tc_blocks(view) == static_cast<std::int64_t>(tiles));
    }
    if (blocks.placement != WindowPlacement::varied) CHECK(view.layout->tc_blocks(view) == blocks.tiles());
    CHECK(blocks.window_rows == view.layout->window_rows);
  });
}

TEST_CASE("formats: value_source says where each value came from, whatever the type of the values") {
  for_all([](const Converter& converter, const Sample& sample) {
    for (const DType dtype : {DType::f16, DType::f32, DType::f64}) {
      CAPTURE(name_of(dtype));
      const Csr a = make_csr(sample.cols, sample.rows, dtype);
      // Positions of more than 32 bits, and the low bits of which are those of the value.
      std::vector<std::int64_t> source(static_cast<std::size_t>(a.nnz()));
      for (std::size_t k = 0; k < source.size(); ++k)
        source[k] =
            (std::int64_t{1} << 40) * static_cast<std::int64_t>(k % 3) + static_cast<std::int64_t>(k) + 1;
      const Result<Array> moved = value_source(converter.from_csr, a.view(), source);
      REQUIRE(moved.has_value());
      CHECK(moved->dtype() == DType::i64);

      const std::uint64_t mask = ~std::uint64_t{0} >> (64 - 8 * size_of(dtype));
      const FormatData data = convert(converter, a.view());
      std::vector<std::uint64_t> stored, low;  // value k has the bits k + 1
      for (std::size_t i = 0; i < data.arrays.size(); ++i)
        if (data.layout->arrays[i].holds_values)
          for (const std::uint64_t bits : elements(data.arrays[i].view())) stored.push_back(bits);
      bool from_source = true;
      for (const std::uint64_t position : elements(moved->view())) {
        from_source &= source[(position & 0xFFFFFFFF) - 1] == static_cast<std::int64_t>(position);
        low.push_back((position & 0xFFFFFFFF) & mask);
      }
      CHECK(from_source);
      CHECK(low == stored);
    }
  });
}

TEST_CASE("formats: packed_positions is the inverse of value_source, for a pattern and reordered rows, too") {
  for_all([](const Converter& converter, const Sample& sample) {
    const Csr a = make_csr(sample.cols, sample.rows, DType::none);
    std::vector<std::int32_t> backwards(static_cast<std::size_t>(a.rows));
    std::iota(backwards.rbegin(), backwards.rend(), 0);
    const Csr permuted = permute_rows(a.view(), backwards);
    std::vector<std::int64_t> source;  // of the reordered entries in `a`
    for (const std::int32_t row : backwards)
      for (std::int64_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) source.push_back(k);
    const Result<Array> expected = value_source(converter.from_csr, permuted.view(), source);
    REQUIRE(expected.has_value());
    const FormatData data = convert(converter, permuted.view());
    const Result<Array> packed = packed_positions(data.view(), backwards);
    REQUIRE(packed.has_value());
    CHECK(elements(inverse_positions(packed->view().as<std::int64_t>()).view()) ==
          elements(expected->view()));
  });
}

TEST_CASE("formats: one thread and four threads give the same bytes") {
  for_all([](const Converter& converter, const Sample& sample) {
    const Csr a = make_csr(sample.cols, sample.rows);
    const auto with_threads = [&](std::size_t threads) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      return convert(converter, a.view());
    };
    CHECK(same_bytes(with_threads(1).view(), with_threads(4).view()));
  });
}

TEST_CASE("formats: a cancelled conversion says so") {
  const Csr a = make_csr(300, random_rows(100, 300, 0.1, 1));
  for (const Converter& converter : converters()) {
    CAPTURE(converter.format);
    Progress progress;
    progress.cancelled = true;
    const Result<FormatData> data = converter.from_csr(a.view(), &progress);
    REQUIRE_FALSE(data.has_value());
    CHECK(data.error().code == Errc::io);
    CHECK(data.error().message == "cancelled");
  }
}

TEST_CASE("formats: progress ends at its total") {
  for_all([](const Converter& converter, const Sample& sample) {
    const Csr a = make_csr(sample.cols, sample.rows);
    Progress progress;
    REQUIRE(converter.from_csr(a.view(), &progress).has_value());
    CHECK(progress.done == progress.total);
  });
}

TEST_CASE("formats: more entries than 32-bit tile offsets count are refused before any is looked at") {
  const std::int32_t column = 0;
  const std::vector<std::int64_t> row_ptr{0, std::int64_t{1} << 32};
  const CsrView a{1, 1, row_ptr, {&column, std::size_t{1} << 32}, {}};  // claims entries that are not there
  int refused = 0;
  for (const FormatLayout* layout : layouts())
    for (const ArraySpec& array : layout->arrays) {
      if (array.dtype != DType::u32 || !array.name.ends_with("_offset")) continue;
      CAPTURE(layout->name);
      const Result<FormatData> data = find_converter(layout->name)->from_csr(a, nullptr);
      REQUIRE_FALSE(data.has_value());
      CHECK(data.error().code == Errc::unsupported);
      CHECK(data.error().message.starts_with(std::string(layout->name) + ": " + std::string(array.name) +
                                             " counts at most 4294967295"));
      ++refused;
    }
  CHECK(refused >= 5);
}
