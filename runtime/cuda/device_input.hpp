// Matrices as applications have them in device memory: CSR or COO with ids of either width, in any order.
// They become CSR as everything here takes it, its transpose, and orders in which values go back and forth. A
// build without nvcc has the same functions (no_conversions.cpp), which say so.
//
// Everything is enqueued on a stream (a cudaStream_t; null: the default one); what gives a Result has waited
// for it. Work memory is as that of convert_on_device. What is returned may outlive the stream.
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

/// Entries in the memory of a device; ids count from 0, nothing of them was checked.
struct DeviceEntries {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  const void* row = nullptr;     ///< CSR: where each row starts, rows + 1 offsets; COO: the row of each entry
  DType row_type = DType::i64;   ///< i32 or i64
  bool row_is_pointer = true;    ///< CSR
  const void* col = nullptr;     ///< the column of each entry
  DType col_type = DType::i32;   ///< i32 or i64
  const void* values = nullptr;  ///< not read for a pattern
  DType value_dtype = DType::none;
  int ordinal = 0;  ///< of the device
};

/// What to do where entries do not strictly ascend by row, then column.
enum class Disorder {
  refuse,
  sort,  ///< but refuse two entries with one place
  sum,   ///< sort, and add up entries with one place: in double, as they stand, rounded once
};

struct EntryOptions {
  Disorder disorder = Disorder::refuse;
  bool borrow = false;  ///< do not copy arrays that are as they should be: they outlive the result, unchanged
  bool trusted = false;  ///< do not look at CSR whose arrays are all borrowed, unless it may be out of order
};

/// A checked CSR matrix, the memory of what it did not borrow, and where its values stood.
struct OwnedCsr {
  DeviceCsr csr;
  bool borrows = false;  ///< some array is the caller's
  ArrayView position;    ///< i64: of the values in turn, in the caller's order; none where they stand alike
  /// i64, csr.nnz + 1: the values of entry i are at position[first[i]] to position[first[i + 1] - 1]; none
  /// where each entry has one.
  ArrayView first;
  std::shared_ptr<std::byte> memory, order_memory;
};

/// Makes CSR of entries, without a sort where they are in order. Errc::usage for sizes, types and null
/// pointers that mean nothing; Errc::bad_input, with the place, for ids and offsets that are out of range,
/// and for entries out of order or in one place where that is refused; Errc::unsupported above 2^32 - 1
/// entries; Errc::device, naming the bytes, when there is no room: sorting takes up to 60 bytes per entry.
Result<OwnedCsr> canonical_csr(const DeviceEntries& entries, const EntryOptions& options, void* stream);

/// Copies CSR matrices of one device into one, whose values in the caller's order are those of all matrices,
/// one behind the other. Nothing is borrowed. Errors as canonical_csr of one matrix and runtime::arrange;
/// those of a matrix say which. O(entries log matrices).
Result<OwnedCsr> join_csr(std::span<const DeviceEntries> parts, Arrangement arrangement,
                          const EntryOptions& options, void* stream);

/// Enqueues putting values in the caller's order where those of the entries of a matrix stand: copied,
/// gathered or added up as canonical_csr has it. `from` and `to` are device memory apart from each other.
/// Neither allocates nor waits.
Status put_values(const OwnedCsr& a, const void* from, void* to, void* stream);

/// The transpose of a matrix without row_order; its positions, where wanted, are those of its values in A's.
/// Errors as convert_on_device.
Result<OwnedCsr> transpose_on_device(const DeviceCsr& a, bool with_positions, void* stream);

/// Makes the value_source of a format of that transpose, which then tells positions in A's values.
Status follow_positions(DeviceFormat& format, const OwnedCsr& transposed, void* stream);

/// Tells whether two checked matrices have the same shape, arrays and bits of values. One that equals its
/// transpose is symmetric.
Result<bool> equal_on_device(const DeviceCsr& a, const DeviceCsr& b, void* stream);

/// Where each value of a format stood in its CSR matrix.
struct ValueSource {
  ArrayView positions;  ///< i64, as formats::value_source has them
  std::shared_ptr<std::byte> memory;
};

/// Makes the value_source of a format that has none. `format` has device pointers; `a` is its matrix, with
/// row_order where the format has other rows; `parameters` those that the format was made with. Errors as
/// convert_on_device, and Errc::bad_input when this is not how the format was made.
Result<ValueSource> make_value_source(const formats::FormatView& format, const DeviceCsr& a,
                                      const ConvertParameters& parameters, void* stream);

}  // namespace sptile::runtime::cuda
