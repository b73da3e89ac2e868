#include <utility>

#include "runtime/cuda/convert/arena.hpp"
#include "runtime/cuda/device/check.hpp"
#include "runtime/cuda/device/current_device.hpp"
#include "runtime/cuda/device/device_buffer.hpp"
#include "runtime/cuda/device/upload.hpp"
#include "runtime/cuda/device_format.hpp"

namespace sptile::runtime::cuda {
namespace {

struct CsrParts {
  std::int64_t* row_ptr;
  std::int32_t* col_idx;
  std::byte* values;
  std::int32_t* row_order;

  CsrParts(Arena& arena, const formats::CsrView& a, std::span<const std::int32_t> order)
      : row_ptr(arena.take<std::int64_t>(a.rows + 1)),
        col_idx(arena.take<std::int32_t>(a.nnz())),
        values(arena.take<std::byte>(a.values.bytes())),
        row_order(arena.take<std::int32_t>(std::ssize(order))) {}
};

}  // namespace

Result<UploadedCsr> upload_csr(const formats::CsrView& a, int ordinal,
                               std::span<const std::int32_t> row_order) {
  const CurrentDevice current(ordinal);
  if (Status s = current.status(); !s) return tl::unexpected(s.error());
  Arena count;
  CsrParts(count, a, row_order);
  auto buffer = DeviceBuffer::allocate(count.bytes(), "the matrix");
  if (!buffer) return tl::unexpected(buffer.error());
  const auto owner = std::make_shared<DeviceBuffer>(std::move(*buffer));
  Arena arena(owner->data());
  const CsrParts parts(arena, a, row_order);
  Uploader uploader;
  Status s = uploader.copy(parts.row_ptr, a.row_ptr.data(), a.row_ptr.size_bytes());
  if (s) s = uploader.copy(parts.col_idx, a.col_idx.data(), a.col_idx.size_bytes());
  if (s) s = uploader.copy(parts.values, a.values.data, static_cast<std::size_t>(a.values.bytes()));
  if (s) s = uploader.copy(parts.row_order, row_order.data(), row_order.size_bytes());
  if (s) s = uploader.finish();
  if (!s) return tl::unexpected(s.error());

  UploadedCsr result;
  result.csr.rows = a.rows;
  result.csr.cols = a.cols;
  result.csr.nnz = a.nnz();
  result.csr.row_ptr = parts.row_ptr;
  result.csr.col_idx = parts.col_idx;
  result.csr.values = a.is_pattern() ? nullptr : parts.values;
  result.csr.value_dtype = a.values.dtype;
  result.csr.row_order = row_order.empty() ? nullptr : parts.row_order;
  result.csr.ordinal = ordinal;
  result.memory = std::shared_ptr<std::byte>(owner, owner->data());
  return result;
}

}  // namespace sptile::runtime::cuda
