// Input matrices in device memory: CSR or COO with 32- or 64-bit ids, in any order. They are converted to
// sorted CSR, with its transpose and the permutations of values. Builds without nvcc have the same functions,
// which return errors.
//
// All work is enqueued on a stream (a cudaStream_t; null: the default one); functions that return a Result
// have waited for it. Workspace is allocated as by convert_on_device. Results may outlive the stream.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "formats/core/array_view.hpp"
#include "formats/core/error.hpp"
#include "formats/layout/csr.hpp"
#include "formats/layout/format_layout.hpp"
#include "runtime/core/batch.hpp"
#include "runtime/cuda/device_format.hpp"

namespace sptile::runtime::cuda {

/// Entries in device memory with 0-based ids; unchecked.
struct DeviceEntries {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  const void* row = nullptr;     ///< CSR: rows + 1 offsets; COO: row of each entry
  DType row_type = DType::i64;   ///< i32 or i64
  bool row_is_pointer = true;    ///< CSR
  const void* col = nullptr;     ///< column of each entry
  DType col_type = DType::i32;   ///< i32 or i64
  const void* values = nullptr;  ///< not read for a pattern
  DType value_dtype = DType::none;
  int ordinal = 0;  ///< device
};

/// Treatment of entries that do not strictly ascend by row, then column.
enum class Disorder {
  refuse,
  sort,  ///< sort, but reject duplicates
  sum,   ///< sort, and sum duplicates: in double, in their order, rounded once
};

struct EntryOptions {
  Disorder disorder = Disorder::refuse;
  bool borrow = false;   ///< borrow arrays that need no conversion; they must outlive the result unchanged
  bool trusted = false;  ///< skip the check of CSR whose arrays are all borrowed, unless it may be out of
                         ///< order
};

/// A checked CSR matrix, its memory except for borrowed arrays, and the original positions of its values.
struct OwnedCsr {
  DeviceCsr csr;
  bool borrows = false;  ///< at least one array is the caller's
  ArrayView position;    ///< i64: original positions of the values; absent if the order is unchanged
  /// i64, csr.nnz + 1: the values of entry i are at position[first[i]] to position[first[i + 1] - 1]; absent
  /// if there are no duplicates.
  ArrayView first;
  std::shared_ptr<std::byte> memory, order_memory;
};

/// Makes CSR from entries; sorts only if they are out of order. Errc::usage for invalid sizes, types and null
/// pointers; Errc::bad_input, with the position, for ids and offsets out of range, and for entries that
/// `disorder` rejects; Errc::unsupported above 2^32 - 1 entries; Errc::device, naming the bytes, if memory is
/// short: sorting needs up to 60 bytes per entry.
Result<OwnedCsr> canonical_csr(const DeviceEntries& entries, const EntryOptions& options, void* stream);

/// Joins CSR matrices of one device; the original order of values is that of the concatenated matrices.
/// Borrows nothing. Errors as in canonical_csr and runtime::arrange, naming the matrix. O(entries log
/// matrices).
Result<OwnedCsr> join_csr(std::span<const DeviceEntries> parts, Arrangement arrangement,
                          const EntryOptions& options, void* stream);

/// Enqueues a copy of values from the caller's order to the order of entries, gathering or summing like
/// canonical_csr. `from` and `to` are device memory and must not overlap. Neither allocates nor waits.
Status put_values(const OwnedCsr& a, const void* from, void* to, void* stream);

/// Returns the transpose of a matrix without row_order; `with_positions` adds the positions in the values of
/// A. Errors as in convert_on_device.
Result<OwnedCsr> transpose_on_device(const DeviceCsr& a, bool with_positions, void* stream);

/// Composes the value_source of a format of the transpose with these positions, so that it refers to the
/// values of A.
Status follow_positions(DeviceFormat& format, const OwnedCsr& transposed, void* stream);

/// Returns whether two checked matrices have the same shape, arrays and bits of values. A matrix equal to its
/// transpose is symmetric.
Result<bool> equal_on_device(const DeviceCsr& a, const DeviceCsr& b, void* stream);

/// Position of each value of a format in its CSR matrix.
struct ValueSource {
  ArrayView positions;  ///< i64, as in formats::value_source
  std::shared_ptr<std::byte> memory;
};

/// Computes the value_source of a format. `format` has device pointers; `a` is its matrix, with row_order if
/// the format has reordered rows; `parameters` are those of the format's conversion. Errors as in
/// convert_on_device, and Errc::bad_input if converting `a` does not give the format.
Result<ValueSource> make_value_source(const formats::FormatView& format, const DeviceCsr& a,
                                      const ConvertParameters& parameters, void* stream);

}  // namespace sptile::runtime::cuda
