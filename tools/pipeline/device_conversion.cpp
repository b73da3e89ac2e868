#include "tools/pipeline/device_conversion.hpp"

#include <utility>

namespace sptile::tools {
namespace {

/// Copies a format from a device to host memory.
Result<formats::FormatData> download_format(const runtime::cuda::DeviceFormat& format, int ordinal) {
  const formats::FormatView& view = format.view;
  formats::FormatData data{view.layout, view.rows, view.cols, view.nnz, {}, format.parameters};
  for (std::size_t i = 0; i < view.layout->arrays.size(); ++i) {
    const ArrayView& from = view.arrays[i];
    data.arrays.push_back(from.present() ? formats::Array(from.dtype, from.size) : formats::Array());
    if (Status s = runtime::cuda::download(ordinal, from, data.arrays.back().data()); !s)
      return tl::unexpected(s.error());
  }
  return data;
}

}  // namespace

Result<ConvertedFormat> convert_on_device(const runtime::cuda::UploadedCsr& matrix,
                                          const FormatChoice& choice, bool with_origin,
                                          std::span<const std::int64_t> positions) {
  const int ordinal = matrix.csr.ordinal;
  runtime::cuda::ConvertParameters parameters;
  parameters.with_source = with_origin;
  parameters.parameter = choice.parameter;
  const auto made = runtime::cuda::convert_on_device(*choice.layout, matrix.csr, parameters, nullptr);
  if (!made) return tl::unexpected(made.error());
  auto data = download_format(*made, ordinal);
  if (!data) return tl::unexpected(data.error());
  ConvertedFormat result{std::move(*data), {}};
  if (!made->value_source.present()) return result;
  result.origin = formats::Array(DType::i64, made->value_source.size);
  if (Status s = runtime::cuda::download(ordinal, made->value_source, result.origin.data()); !s)
    return tl::unexpected(s.error());
  if (!positions.empty())
    for (std::int64_t& entry : result.origin.as<std::int64_t>())
      entry = positions[static_cast<std::size_t>(entry)];
  return result;
}

}  // namespace sptile::tools
