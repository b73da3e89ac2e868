// Matrices in device memory: CSR to every format without a look at the entries on the host. A build without
// nvcc has the same functions (none.cpp), which say so.
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

/// A CSR matrix in the memory of a device.
struct DeviceCsr {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  const std::int64_t* row_ptr = nullptr;  ///< rows + 1
  const std::int32_t* col_idx = nullptr;
  const void* values = nullptr;             ///< not read for a pattern
  DType value_dtype = DType::none;          ///< of 2, 4 or 8 bytes; values are moved, never computed with
  const std::int32_t* row_order = nullptr;  ///< new_to_old, rows of them; null: as they stand
  int ordinal = 0;                          ///< of the device
  /// Known to be a CSR matrix (canonical_csr made or checked it), which spares another look. row_order is
  /// looked at all the same.
  bool checked = false;
};

/// What a conversion may choose.
struct ConvertParameters {
  bool with_source = false;               ///< make DeviceFormat::value_source, too
  std::optional<int> parameter = {};      ///< of the format, if it is one for devices; what it chooses
  std::optional<int> block_columns = {};  ///< of Libra's, see formats::LibraSetting; by the values' type
};

/// Owns one matrix in one format in device memory. Plans share it.
struct DeviceFormat {
  formats::FormatView view;  ///< of device pointers; what stands within 256 bytes behind an array is defined
  Parameters parameters;     ///< as formats::FormatData has them
  ArrayView value_source;  ///< where each value stood in the CSR matrix, as formats::value_source; if wanted
  const std::int32_t* row_order = nullptr;  ///< new_to_old; null: rows as they stand
  int ordinal = 0;                          ///< of the device
  std::size_t bytes = 0;                    ///< of device memory, all that is held here
  std::shared_ptr<std::byte> memory, source_memory, order_memory;
  std::shared_ptr<std::byte>
      fresh;  ///< values of the source CSR, kept from the first that came from the host
};

/// Converts on the device of the matrix, bit by bit as formats/convert does on the CPU. Errc::usage for a
/// parameter that the format does not take; Errc::bad_input with the place when the matrix is no CSR or the
/// order no permutation; Errc::unsupported when 32-bit offsets cannot count the entries, or there is no such
/// conversion; Errc::device, naming the bytes, when there is no room: up to 100 bytes per entry and per row
/// are needed while it runs. Enqueues on `stream` (a cudaStream_t; null: the default one) and waits for it.
/// Memory is from the device's current memory pool, but for much that the pool would not keep: the pool's
/// release threshold says how much stays for the next conversion (by default nothing). Parts of up to 8 MiB
/// are from a pool of the library's own, which keeps 64 MiB. What it works in is given back before it
/// returns. The format may outlive the stream; its memory goes when the device has nothing left to do.
Result<DeviceFormat> convert_on_device(const formats::FormatLayout& layout, const DeviceCsr& csr,
                                       const ConvertParameters& parameters, void* stream);

/// A CSR matrix that was copied to a device.
struct UploadedCsr {
  DeviceCsr csr;
  std::shared_ptr<std::byte> memory;
};

/// Copies a matrix in host memory, and an order of its rows if there is one, to a device. Errc::device,
/// naming the bytes, when there is no room.
Result<UploadedCsr> upload_csr(const formats::CsrView& a, int ordinal,
                               std::span<const std::int32_t> row_order = {});

/// Fetches an array of a device; it must be complete. `to` has room for its bytes.
Status download(int ordinal, const ArrayView& array, void* to);

}  // namespace sptile::runtime::cuda
