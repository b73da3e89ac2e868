// Bundles of small matrices with the transpose.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/core/row_order.hpp"
#include "formats/io/hdf5/bundle_writer.hpp"
#include "formats/layout/registry.hpp"
#include "runtime/core/transpose.hpp"
#include "tests/bundle_sample.hpp"
#include "tests/runtime/random_problem.hpp"
#include "tests/temporary_folder.hpp"

namespace sptile::test {

using namespace formats;

inline constexpr std::string_view kFormats[] = {"bittcf", "rs_tile"};

inline std::vector<std::int32_t> reversed(std::int64_t rows) {
  std::vector<std::int32_t> order;
  for (std::int64_t row = rows; row > 0; --row) order.push_back(static_cast<std::int32_t>(row - 1));
  return order;
}

/// Optional contents of a bundle.
struct Contents {
  bool transpose = true, refreshable = true;
  std::optional<bool> symmetric = false;
};

/// Writes the formats of one side with reversed rows; `source` maps its entries to those of A.
inline Status write_side(BundleWriter& writer, const CsrView& a, const Contents& contents, Side side,
                         std::span<const std::int64_t> source) {
  const std::vector<std::int32_t> order = reversed(a.rows);
  const Csr permuted = permute_rows(a, order);
  Buffer<std::int64_t> positions = entry_positions(a, order);
  for (std::int64_t& position : positions.span()) position = source[static_cast<std::size_t>(position)];
  Status s = writer.add_row_order(order, side);
  for (const std::string_view name : kFormats) {
    const Conversion conversion = find_converter(name)->from_csr;
    const auto data = conversion(permuted.view(), nullptr);
    const auto origin = value_source(conversion, permuted.view(), positions.span());
    const ArrayView stored = contents.refreshable && !a.is_pattern() ? origin->view() : ArrayView();
    if (s) s = writer.add_format(data->view(), data->parameters, stored, side);
  }
  return s;
}

/// Writes the formats of a symmetric matrix and only value_source for A^T.
inline Status write_mirrored_sources(BundleWriter& writer, const CsrView& a) {
  const runtime::TransposedCsr t = runtime::transpose(a);
  const std::vector<std::int32_t> order = reversed(a.rows);
  const Csr permuted = permute_rows(a, order);
  Buffer<std::int64_t> positions = entry_positions(a, order);
  for (std::int64_t& position : positions.span()) position = t.source()[static_cast<std::size_t>(position)];
  Status s = writer.add_transposed_source(kCsrLayout, ArrayView(t.source()));
  for (const std::string_view name : kFormats) {
    const Converter& converter = *find_converter(name);
    const auto origin = value_source(converter.from_csr, permuted.view(), positions.span());
    if (s) s = writer.add_transposed_source(*find_layout(name), origin->view());
  }
  return s;
}

inline Status write(const std::string& path, const CsrView& a, const Contents& contents) {
  auto writer = BundleWriter::create(path, {.force = true, .user_block = 16384});
  if (!writer) return tl::unexpected(writer.error());
  const runtime::TransposedCsr t = runtime::transpose(a);
  const Buffer<std::int64_t> own = entry_positions(a, {});
  Status s = writer->add_csr(a);
  if (s && contents.symmetric) s = writer->add_symmetry(*contents.symmetric);
  if (s) s = write_side(*writer, a, contents, Side::matrix, own.span());
  const ArrayView source = contents.refreshable && !a.is_pattern() ? ArrayView(t.source()) : ArrayView();
  if (s && contents.transpose && contents.symmetric == true) {
    s = write_mirrored_sources(*writer, a);
  } else if (s && contents.transpose) {
    s = writer->add_format(as_format(t.view()), {}, source, Side::transpose);
    if (s) s = write_side(*writer, t.view(), contents, Side::transpose, t.source());
  }
  if (!s) return s;
  return writer->commit().map([](std::uint64_t) {});
}

inline Csr rectangular(DType type = DType::f32) {
  test::Random random(4);
  return test::random_matrix(37, 21, 0.2, type, random);
}

/// Mirrors the values of the upper triangle.
inline Csr symmetric() {
  test::Random random(8);
  const Csr half = test::random_matrix(30, 30, 0.1, DType::f32, random);
  const Csr other = transpose(half.view());
  Csr a = test::random_matrix(30, 30, DType::f32, random, [&](std::int64_t r, std::int64_t c) {
    const auto holds = [&](const Csr& m) {
      return std::find(m.col_idx.begin() + m.row_ptr[r], m.col_idx.begin() + m.row_ptr[r + 1], c) !=
             m.col_idx.begin() + m.row_ptr[r + 1];
    };
    return holds(half) || holds(other) ? 2 : 0;
  });
  const auto values = a.values.as<float>();
  for (std::int64_t r = 0; r < a.rows; ++r)
    for (std::int64_t i = a.row_ptr[r]; i < a.row_ptr[r + 1]; ++i)
      values[static_cast<std::size_t>(i)] = static_cast<float>((r + 1) * (a.col_idx[i] + 1) % 17);
  return a;
}

inline std::vector<std::byte> bytes_with(const CsrView& a, const Contents& contents) {
  const TemporaryFolder folder;
  REQUIRE(write(folder / "a.h5", a, contents));
  return bytes_of(folder / "a.h5");
}

}  // namespace sptile::test
