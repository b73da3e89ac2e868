// Checks of formats with several threads find what one thread finds.
#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include "formats/convert/converters.hpp"
#include "formats/core/csr.hpp"
#include "formats/layout/format_layout.hpp"

using namespace sptile;

namespace {

/// Two or three entries to a row: windows enough for several ranges.
formats::Csr many_rows() {
  constexpr std::int64_t kRows = 40'000, kCols = 300;
  std::mt19937 random(1);
  formats::Csr a;
  a.rows = kRows;
  a.cols = kCols;
  a.row_ptr = formats::Buffer<std::int64_t>(kRows + 1);
  std::vector<std::int32_t> columns;
  for (std::int64_t r = 0; r < kRows; ++r) {
    a.row_ptr[static_cast<std::size_t>(r)] = std::ssize(columns);
    std::int32_t column = static_cast<std::int32_t>(random() % 100);
    for (std::uint64_t i = 2 + random() % 2; i > 0;
         --i, column += static_cast<std::int32_t>(1 + random() % 60))
      columns.push_back(column);
  }
  a.row_ptr[kRows] = std::ssize(columns);
  a.col_idx = formats::Buffer<std::int32_t>(std::ssize(columns));
  std::copy(columns.begin(), columns.end(), a.col_idx.begin());
  a.values = formats::Array(DType::f32, std::ssize(columns));
  std::memset(a.values.data(), 0, static_cast<std::size_t>(a.values.view().bytes()));
  return a;
}

std::string message(const Status& status) { return status ? "good" : status.error().message; }

}  // namespace

TEST_CASE("checks with threads: the first fault of an array that is changed, whatever the threads") {
  const formats::Csr a = many_rows();
  std::mt19937 random(2);
  for (const formats::Converter& converter : formats::converters()) {
    CAPTURE(converter.format);
    const auto data = converter.from_csr(a.view(), nullptr);
    REQUIRE(data.has_value());
    const formats::FormatView view = data->view();
    CHECK(message(formats::check(view, 1)) == "good");
    CHECK(message(formats::check(view, 4)) == "good");
    int refused = 0;
    for (std::size_t i = 0; i < view.layout->arrays.size(); ++i) {
      const ArrayView& array = view.arrays[i];
      if (view.layout->arrays[i].holds_values || array.size == 0) continue;
      auto* const bytes = static_cast<std::byte*>(const_cast<void*>(array.data));
      for (int change = 0; change < 12; ++change) {
        std::vector<std::byte> before(bytes, bytes + array.bytes());
        for (int places = 1 + change % 3; places > 0; --places)  // several: the first must be found
          bytes[random() % static_cast<std::size_t>(array.bytes())] ^=
              static_cast<std::byte>(1u << random() % 8);
        const std::string serial = message(formats::check(view, 1));
        CHECK(message(formats::check(view, 4)) == serial);
        CHECK(message(formats::check(view, 7)) == serial);
        refused += serial != "good";
        std::memcpy(bytes, before.data(), before.size());
      }
    }
    CHECK(refused > 0);
  }
}
