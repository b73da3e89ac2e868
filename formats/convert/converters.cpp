#include "formats/convert/converters.hpp"

#include <cstring>

#include "formats/convert/from_to_csr.hpp"

namespace sptile::formats {
namespace {
constexpr Converter kConverters[] = {{"csr", csr_from_csr, csr_to_csr},
                                     {"me_tcf", me_tcf_from_csr, me_tcf_to_csr},
                                     {"bittcf", bittcf_from_csr, bittcf_to_csr},
                                     {"bmat", bmat_from_csr, bmat_to_csr},
                                     {"rs_tile", rs_tile_from_csr, rs_tile_to_csr},
                                     {"tall", tall_from_csr, tall_to_csr},
                                     {"libra_spmm", libra_spmm_from_csr, libra_spmm_to_csr}};
}

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

Result<Array> value_source(const Converter& converter, const CsrView& a,
                           std::span<const std::int64_t> source_position) {
  assert(static_cast<std::int64_t>(source_position.size()) == a.nnz());
  CsrView positions = a;
  positions.values = ArrayView(source_position);
  Result<FormatData> moved = converter.from_csr(positions, nullptr);
  if (!moved) return tl::unexpected(moved.error());

  Array source(DType::i64, a.nnz());
  std::int64_t* out = source.as<std::int64_t>().data();
  for (std::size_t i = 0; i < moved->arrays.size(); ++i) {
    if (!moved->layout->arrays[i].holds_values) continue;
    const auto part = moved->arrays[i].as<std::int64_t>();
    out = std::copy(part.begin(), part.end(), out);
  }
  return source;
}

}  // namespace sptile::formats
