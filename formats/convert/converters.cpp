#include "formats/convert/converters.hpp"

#include <algorithm>

#include "formats/convert/bittcf.hpp"
#include "formats/convert/bmat.hpp"
#include "formats/convert/csr.hpp"
#include "formats/convert/hc_window.hpp"
#include "formats/convert/libra_parts.hpp"
#include "formats/convert/libra_sddmm.hpp"
#include "formats/convert/libra_spmm.hpp"
#include "formats/convert/me_tcf.hpp"
#include "formats/convert/rs_tile.hpp"
#include "formats/convert/tall.hpp"
#include "formats/convert/tile_bits.hpp"
#include "formats/core/value_types.hpp"

namespace sptile::formats {
namespace {
constexpr Converter kConverters[] = {
    {"csr", csr_from_csr, csr_to_csr},
    {"me_tcf", me_tcf_from_csr, me_tcf_to_csr},
    {"bittcf", bittcf_from_csr, bittcf_to_csr},
    {"bmat", bmat_from_csr, bmat_to_csr},
    {"rs_tile", rs_tile_from_csr, rs_tile_to_csr, rs_tile_from_csr_at},
    {"tall", tall_from_csr, tall_to_csr, tall_from_csr_of_height},
    {"libra_spmm", libra_spmm_from_csr, libra_to_csr, libra_spmm_from_csr_at},
    {"libra_sddmm", libra_sddmm_from_csr, libra_to_csr, libra_sddmm_from_csr_at},
    {"hc_window", hc_window_from_csr, hc_window_to_csr, hc_window_from_csr_at},
};

/// Applies the conversion to positions, one Word of the positions per pass.
template <class Word>
Status move_positions(const Conversion& conversion, const CsrView& a, DType dtype,
                      std::span<const std::int64_t> positions, std::span<std::int64_t> moved) {
  std::int64_t used_bits = 0;
  for (const std::int64_t position : positions) used_bits |= position;
  Array words(dtype, a.nnz());
  CsrView numbered = a;
  numbered.values = words.view();
  std::fill(moved.begin(), moved.end(), 0);
  for (int shift = 0; shift == 0 || (shift < 64 && used_bits >> shift != 0);
       shift += 8 * static_cast<int>(sizeof(Word))) {
    std::transform(positions.begin(), positions.end(), static_cast<Word*>(words.data()),
                   [&](std::int64_t position) { return static_cast<Word>(position >> shift); });
    const Result<FormatData> data = conversion(numbered, nullptr);
    if (!data) return tl::unexpected(data.error());
    std::int64_t* out = moved.data();
    for (std::size_t i = 0; i < data->arrays.size(); ++i) {
      if (!data->layout->arrays[i].holds_values) continue;
      const auto* const part = static_cast<const Word*>(data->arrays[i].data());
      for (std::int64_t k = 0; k < data->arrays[i].size(); ++k)
        *out++ |= static_cast<std::int64_t>(std::uint64_t{part[k]} << shift);
    }
  }
  return {};
}
}  // namespace

FormatView FormatData::view() const {
  FormatView view{layout, rows, cols, nnz, {}};
  for (std::size_t i = 0; i < arrays.size(); ++i) view.arrays[i] = arrays[i].view();
  return view;
}

std::span<const Converter> converters() { return kConverters; }

const Converter* find_converter(std::string_view format) {
  for (const Converter& converter : kConverters)
    if (converter.format == format) return &converter;
  return nullptr;
}

Result<Array> value_source(const Conversion& conversion, const CsrView& a,
                           std::span<const std::int64_t> source_position) {
  assert(static_cast<std::int64_t>(source_position.size()) == a.nnz());
  Array source(DType::i64, a.nnz());
  const DType dtype = a.is_pattern() ? DType::i64 : a.values.dtype;
  const Status moved = visit_word(dtype, [&](auto word) {
    return move_positions<decltype(word)>(conversion, a, dtype, source_position, source.as<std::int64_t>());
  });
  if (!moved) return tl::unexpected(moved.error());
  return source;
}

}  // namespace sptile::formats
