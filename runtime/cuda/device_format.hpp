// Matrices in device memory, and conversion of CSR to every format on the device. Builds without nvcc have
// the same functions, which return errors.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "formats/core/csr_view.hpp"
#include "formats/core/error.hpp"
#include "formats/core/parameters.hpp"
#include "formats/layout/format_layout.hpp"

namespace sptile::runtime::cuda {

/// A CSR matrix in device memory.
struct DeviceCsr {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  const std::int64_t* row_ptr = nullptr;  ///< rows + 1
  const std::int32_t* col_idx = nullptr;
  const void* values = nullptr;     ///< not read for a pattern
  DType value_dtype = DType::none;  ///< type of 2, 4 or 8 bytes; values are moved, never computed with
  const std::int32_t* row_order = nullptr;  ///< new_to_old, `rows` elements; null: original order
  int ordinal = 0;                          ///< device
  /// The arrays are known to be a valid CSR matrix (from canonical_csr), which skips the check. row_order is
  /// always checked.
  bool checked = false;
};

/// Parameters of a conversion.
struct ConvertParameters {
  bool with_source = false;               ///< also make DeviceFormat::value_source
  std::optional<int> parameter = {};      ///< format parameter; default: chosen as on the host
  std::optional<int> block_columns = {};  ///< for Libra, see formats::LibraSetting; default: by value type
};

/// Owns one matrix in one format in device memory. Plans share it.
struct DeviceFormat {
  formats::FormatView view;  ///< device pointers; 256 bytes after each array are initialized
  Parameters parameters;     ///< same as in formats::FormatData
  ArrayView value_source;    ///< position of each value in the CSR matrix, as formats::value_source; optional
  const std::int32_t* row_order = nullptr;  ///< new_to_old; null: original order
  int ordinal = 0;                          ///< device
  std::size_t bytes = 0;                    ///< total device memory
  std::shared_ptr<std::byte> memory, source_memory, order_memory;
  std::shared_ptr<std::byte>
      fresh;  ///< buffer for values of the source CSR, allocated when values first come from the host
};

/// Converts on the device of the matrix, with the same bits as formats/convert on the CPU. Errc::usage for an
/// invalid parameter; Errc::bad_input, with the position, if the matrix is not valid CSR or the order not a
/// permutation; Errc::unsupported if the number of entries exceeds 32-bit offsets or the conversion does not
/// exist; Errc::device, naming the bytes, if memory is short: conversions need up to 100 bytes per entry and
/// per row. Enqueues on `stream` (a cudaStream_t; null: the default one) and waits for it. Memory is from the
/// device's current memory pool, except for large allocations that the pool would not retain: the pool's
/// release threshold determines the memory retained for the next conversion (by default none). Allocations of
/// up to 8 MiB are from a library-owned pool, which retains 64 MiB. Workspace is freed before returning. The
/// format may outlive the stream; its memory is freed once the device is idle.
Result<DeviceFormat> convert_on_device(const formats::FormatLayout& layout, const DeviceCsr& csr,
                                       const ConvertParameters& parameters, void* stream);

/// A CSR matrix copied to a device.
struct UploadedCsr {
  DeviceCsr csr;
  std::shared_ptr<std::byte> memory;
};

/// Copies a matrix in host memory, and an optional row order, to a device. Errc::device, naming the bytes, if
/// memory is short.
Result<UploadedCsr> upload_csr(const formats::CsrView& a, int ordinal,
                               std::span<const std::int32_t> row_order = {});

/// Copies a device array, which must be complete, to `to`.
Status download(int ordinal, const ArrayView& array, void* to);

}  // namespace sptile::runtime::cuda
