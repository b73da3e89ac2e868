// A matrix small enough to check by hand, as CSR and as BitTCF, and bundles of it.
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "formats/io/hdf5/bundle_writer.hpp"
#include "formats/layout/bittcf.hpp"
#include "formats/layout/bundle_layout.hpp"

namespace sptile {

/// The 3 x 5 matrix [. 1 . . 2 / . . . . . / 3 4 . 5 .], with rows reversed by row_order {2, 1, 0}.
class BundleSample {
 public:
  explicit BundleSample(DType csr_values = DType::f32, DType format_values = DType::f32)
      : csr_values_(numbers(csr_values, {1, 2, 3, 4, 5})),
        format_values_(numbers(format_values, {3, 4, 5, 1, 2})),
        csr_dtype_(csr_values),
        format_dtype_(format_values) {}

  [[nodiscard]] formats::CsrView csr() const {
    return {3, 5, row_ptr_, col_idx_, view(csr_dtype_, csr_values_)};
  }
  [[nodiscard]] formats::FormatView bittcf() const {
    return {&formats::kBitTcfLayout,
            3,
            5,
            5,
            {{ArrayView(DType::i32, window_.data(), 2), ArrayView(DType::u32, tile_.data(), 2),
              ArrayView(DType::u64, mask_.data(), 1), ArrayView(DType::i32, columns_.data(), 8),
              view(format_dtype_, format_values_)}}};
  }
  [[nodiscard]] std::span<const std::int32_t> row_order() const { return row_order_; }
  [[nodiscard]] ArrayView value_source() const { return {DType::i64, source_.data(), 5}; }

  /// Writes the bundle with all arrays for this kind of matrix.
  [[nodiscard]] Result<std::uint64_t> write(const std::string& path,
                                            const formats::BundleWriteOptions& options = {}) const {
    auto writer = formats::BundleWriter::create(path, options);
    if (!writer) return tl::unexpected(writer.error());
    Status s = writer->add_csr(csr());
    if (s) s = writer->add_row_order(row_order());
    const ArrayView source = csr_dtype_ == DType::none ? ArrayView() : value_source();
    if (s) s = writer->add_format(bittcf(), {{"window_rows", std::int64_t{8}}, {"threshold", 0.5}}, source);
    if (!s) return tl::unexpected(s.error());
    return writer->commit();
  }

 private:
  static std::vector<std::byte> numbers(DType dtype, std::array<float, 5> values) {
    std::vector<std::byte> bytes(5 * size_of(dtype));
    for (std::size_t i = 0; i < values.size() && dtype != DType::none; ++i) {
      std::byte* to = bytes.data() + i * size_of(dtype);
      const double wide = values[i];
      const Half half = to_half(values[i]);
      const BFloat16 brain = to_bfloat16(values[i]);
      const void* from = dtype == DType::f64    ? static_cast<const void*>(&wide)
                         : dtype == DType::f16  ? static_cast<const void*>(&half)
                         : dtype == DType::bf16 ? static_cast<const void*>(&brain)
                                                : static_cast<const void*>(&values[i]);
      std::memcpy(to, from, size_of(dtype));
    }
    return bytes;
  }
  static ArrayView view(DType dtype, const std::vector<std::byte>& bytes) {
    return dtype == DType::none ? ArrayView() : ArrayView(dtype, bytes.data(), 5);
  }

  std::array<std::int64_t, 4> row_ptr_{0, 2, 2, 5};
  std::array<std::int32_t, 5> col_idx_{1, 4, 0, 1, 3};
  std::array<std::int32_t, 3> row_order_{2, 1, 0};
  std::array<std::int32_t, 2> window_{0, 1};
  std::array<std::uint32_t, 2> tile_{0, 5};
  std::array<std::uint64_t, 1> mask_{0b1010'0000'0000'0000'0111};
  std::array<std::int32_t, 8> columns_{0, 1, 3, 4, 4, 4, 4, 4};
  std::array<std::int64_t, 5> source_{2, 3, 4, 0, 1};
  std::vector<std::byte> csr_values_, format_values_;
  DType csr_dtype_, format_dtype_;
};

inline std::vector<std::byte> bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

/// Returns whether two arrays have the same type, length and bits.
inline bool same(const ArrayView& a, const ArrayView& b) {
  return a.dtype == b.dtype && a.size == b.size &&
         (a.size == 0 || std::memcmp(a.data, b.data, static_cast<std::size_t>(a.bytes())) == 0);
}

}  // namespace sptile
