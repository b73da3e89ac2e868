// Replacement of the values of a matrix on a device.
#include <utility>

#include "runtime/cuda/backend.hpp"
#include "runtime/cuda/device/check.hpp"
#include "runtime/cuda/device/current_device.hpp"
#include "runtime/cuda/device/device_buffer.hpp"
#include "runtime/cuda/device/gather.hpp"
#include "runtime/cuda/device/upload.hpp"
#include "runtime/cuda/device_format.hpp"
#include "runtime/cuda/device_input.hpp"

namespace sptile::runtime::cuda {
namespace {

/// Calls f for each nonempty value array, in order.
template <class F>
Status for_each_values(const DeviceFormat& matrix, F f) {
  for (std::size_t i = 0; i < matrix.view.layout->arrays.size(); ++i) {
    const ArrayView& array = matrix.view.arrays[i];
    if (!matrix.view.layout->arrays[i].holds_values || array.size == 0) continue;
    if (Status s = check(f(array, const_cast<void*>(array.data)), "copying new values"); !s) return s;
  }
  return {};
}

/// Allocates memory, once, for the values of all entries in CSR order.
Status reserve(DeviceFormat& matrix, std::size_t bytes) {
  if (matrix.fresh != nullptr) return {};
  auto room = DeviceBuffer::allocate(bytes, "new values");
  if (!room) return tl::unexpected(room.error());
  const auto owner = std::make_shared<DeviceBuffer>(std::move(*room));
  matrix.fresh = std::shared_ptr<std::byte>(owner, owner->data());
  matrix.bytes += bytes;
  return {};
}

Status bring(DeviceFormat& matrix, const void* from, std::size_t bytes) {
  if (Status s = check(cudaDeviceSynchronize(), "waiting for earlier runs"); !s) return s;
  if (Status s = reserve(matrix, bytes); !s) return s;
  Uploader uploader;
  if (Status s = uploader.copy(matrix.fresh.get(), from, bytes); !s) return s;
  return uploader.finish();
}

}  // namespace

bool is_device_memory(const void* pointer) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, pointer) != cudaSuccess) {
    cudaGetLastError();
    return false;
  }
  return attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
}

Status wait(int ordinal, void* stream) {
  const CurrentDevice current(ordinal);
  if (Status s = current.status(); !s) return s;
  return check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)), "waiting");
}

Status follow_positions(DeviceFormat& format, const OwnedCsr& transposed, void* stream) {
  const CurrentDevice current(format.ordinal);
  if (Status s = current.status(); !s) return s;
  const ArrayView& position = transposed.position;
  const auto bytes = static_cast<std::size_t>(position.bytes());
  auto made = DeviceBuffer::allocate(bytes, "value_source");
  if (!made) return tl::unexpected(made.error());
  const auto owner = std::make_shared<DeviceBuffer>(std::move(*made));
  std::byte* const to = owner->data();
  auto* const on = static_cast<cudaStream_t>(stream);
  const bool has_source = format.value_source.present();
  const cudaError_t code = has_source
                               ? gather(to, position.data, format.value_source.as<std::int64_t>().data(),
                                        position.size, sizeof(std::int64_t), on)
                               : cudaMemcpyAsync(to, position.data, bytes, cudaMemcpyDeviceToDevice, on);
  if (Status s = check(code, "creating value_source"); !s) return s;
  if (!has_source) format.bytes += bytes;
  if (Status s = check(cudaStreamSynchronize(on), "creating value_source"); !s) return s;
  format.value_source = ArrayView(DType::i64, to, position.size);
  format.source_memory = std::shared_ptr<std::byte>(owner, to);
  return {};
}

Status upload_source(DeviceFormat& matrix, ArrayView source) {
  const CurrentDevice current(matrix.ordinal);
  if (Status s = current.status(); !s) return s;
  const auto bytes = static_cast<std::size_t>(source.bytes());
  auto room = DeviceBuffer::allocate(bytes, "value_source");
  if (!room) return tl::unexpected(room.error());
  const auto owner = std::make_shared<DeviceBuffer>(std::move(*room));
  Uploader uploader;
  if (Status s = uploader.copy(owner->data(), source.data, bytes); !s) return s;
  if (Status s = uploader.finish(); !s) return s;
  matrix.value_source = ArrayView(DType::i64, owner->data(), source.size);
  matrix.source_memory = std::shared_ptr<std::byte>(owner, owner->data());
  matrix.bytes += bytes;
  return {};
}

Result<ArrayView> unpack(DeviceFormat& order, ArrayView packed, void* stream) {
  if (!order.value_source.present()) return packed;
  const CurrentDevice current(order.ordinal);
  if (Status s = current.status(); !s) return tl::unexpected(s.error());
  if (Status s = reserve(order, static_cast<std::size_t>(packed.bytes())); !s)
    return tl::unexpected(s.error());
  const cudaError_t code =
      scatter(order.fresh.get(), packed.data, order.value_source.as<std::int64_t>().data(), packed.size,
              size_of(packed.dtype), static_cast<cudaStream_t>(stream));
  if (Status s = check(code, "copying new values"); !s) return tl::unexpected(s.error());
  return ArrayView(packed.dtype, order.fresh.get(), packed.size);
}

Status refresh(DeviceFormat& matrix, ArrayView values, void* stream) {
  const CurrentDevice current(matrix.ordinal);
  if (Status s = current.status(); !s) return s;
  const auto bytes = static_cast<std::size_t>(values.bytes());
  const bool here = is_device_memory(values.data);
  if (!here)
    if (Status s = bring(matrix, values.data, bytes); !s) return s;
  const void* const source = here ? values.data : matrix.fresh.get();
  auto* const on = static_cast<cudaStream_t>(stream);
  std::int64_t position = 0;
  Status s = for_each_values(matrix, [&](const ArrayView& array, void* to) {
    const std::int64_t begin = std::exchange(position, position + array.size);
    if (!matrix.value_source.present())
      return cudaMemcpyAsync(to, source, bytes, cudaMemcpyDeviceToDevice, on);
    return gather(to, source, matrix.value_source.as<std::int64_t>().data() + begin, array.size,
                  size_of(array.dtype), on);
  });
  if (!s || here) return s;
  return check(cudaStreamSynchronize(on), "copying new values");
}

Status refresh_packed(DeviceFormat& matrix, const void* values, void* stream) {
  const CurrentDevice current(matrix.ordinal);
  if (Status s = current.status(); !s) return s;
  const auto* from = static_cast<const std::byte*>(values);
  return for_each_values(matrix, [&](const ArrayView& array, void* to) {
    const auto bytes = static_cast<std::size_t>(array.bytes());
    return cudaMemcpyAsync(to, std::exchange(from, from + bytes), bytes, cudaMemcpyDeviceToDevice,
                           static_cast<cudaStream_t>(stream));
  });
}

}  // namespace sptile::runtime::cuda
