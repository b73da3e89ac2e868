#include "tools/pipeline/device_conversion.hpp"

#include <fmt/format.h>

#include <utility>

#include "runtime/cuda/device_order.hpp"
#include "tools/pipeline/stopwatch.hpp"
#include "tools/pipeline/units.hpp"

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
  for (std::int64_t& entry : result.origin.as<std::int64_t>())
    entry = positions[static_cast<std::size_t>(entry)];
  return result;
}

Result<std::vector<std::int32_t>> order_on_device(Work& work, const formats::CsrView& a) {
  const Stopwatch watch;
  const auto uploaded = runtime::cuda::upload_csr({a.rows, a.cols, a.row_ptr, a.col_idx, {}}, 0);
  if (!uploaded) return tl::unexpected(uploaded.error());
  const double upload_seconds = watch.seconds();
  const auto made = runtime::cuda::rabbit_on_device(uploaded->csr, nullptr);
  if (!made) return tl::unexpected(made.error());
  std::vector<std::int32_t> order(static_cast<std::size_t>(a.rows));
  const ArrayView on_device(DType::i32, made->new_to_old, a.rows);
  if (Status s = runtime::cuda::download(uploaded->csr.ordinal, on_device, order.data()); !s)
    return tl::unexpected(s.error());
  work.detail(fmt::format(
      "ordered on the device in {}: upload {}, graph {}, {} rounds of merges {}, order {}",
      human_seconds(watch.seconds()), human_seconds(upload_seconds), human_seconds(made->graph_seconds),
      made->counts.rounds, human_seconds(made->merge_seconds), human_seconds(made->order_seconds)));
  return order;
}

}  // namespace sptile::tools
