#include "runtime/cuda/device/upload_format.hpp"

#include <array>
#include <utility>

#include "runtime/cuda/device/device_buffer.hpp"
#include "runtime/cuda/device/parts.hpp"

namespace sptile::runtime::cuda {

Result<std::shared_ptr<DeviceFormat>> upload_format(const PlanMatrix& matrix, bool with_source, int ordinal,
                                                    Uploader& uploader) {
  const std::size_t array_count = matrix.format.layout->arrays.size();
  const bool source = with_source && matrix.value_source.present();
  Parts parts;
  std::array<std::size_t, formats::kMaxArrays> offsets{};
  for (std::size_t i = 0; i < array_count; ++i) offsets[i] = parts.add(matrix.format.arrays[i]);
  const std::size_t order_at = parts.add(matrix.row_order.data(), matrix.row_order.size_bytes());
  const std::size_t source_at = source ? parts.add(matrix.value_source) : 0;

  auto buffer = DeviceBuffer::allocate(parts.total(), "the matrix");
  if (!buffer) return tl::unexpected(buffer.error());
  const auto owner = std::make_shared<DeviceBuffer>(std::move(*buffer));
  std::byte* const base = owner->data();
  auto format = std::make_shared<DeviceFormat>();
  format->memory = std::shared_ptr<std::byte>(owner, base);
  format->bytes = parts.total();
  format->ordinal = ordinal;
  format->view = matrix.format;
  for (std::size_t i = 0; i < array_count; ++i)  // absent arrays are null
    format->view.arrays[i].data = format->view.arrays[i].present() ? base + offsets[i] : nullptr;
  if (!matrix.row_order.empty()) format->row_order = reinterpret_cast<const std::int32_t*>(base + order_at);
  if (source) format->value_source = ArrayView(DType::i64, base + source_at, matrix.value_source.size);
  if (Status s = parts.upload(base, uploader); !s) return tl::unexpected(s.error());
  return format;
}

}  // namespace sptile::runtime::cuda
