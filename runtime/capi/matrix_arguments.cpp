#include "runtime/capi/matrix_arguments.hpp"

#include <string>

#include "formats/layout/invariants.hpp"
#include "runtime/capi/arguments.hpp"
#include "runtime/capi/error.hpp"

namespace sptile::runtime {
namespace {

Status check_shape(const char* call, const sptile_arrays& a) {
  if (a.rows < 0 || a.cols < 0 || a.nnz < 0)
    return fail(Errc::usage, "a matrix of " + std::to_string(a.rows) + " x " + std::to_string(a.cols) +
                                 " with " + std::to_string(a.nnz) + " entries; sizes must not be negative");
  if (a.rows > formats::kMaxId || a.cols > formats::kMaxId)
    return fail(Errc::unsupported, "a matrix of " + std::to_string(a.rows) + " x " + std::to_string(a.cols) +
                                       "; row and column ids are 32-bit");
  if (a.nnz > std::int64_t{1} << 60)
    return fail(Errc::bad_input, "nnz = " + std::to_string(a.nnz) + " is not a valid number of entries");
  if (a.row == nullptr) return null_argument(call, "arrays.row");
  if (a.col == nullptr && a.nnz > 0) return null_argument(call, "arrays.col");
  if (a.reserved != 0) return fail(Errc::usage, "arrays.reserved is not 0");
  return {};
}

Status check_host_kind(const sptile_arrays& a) {
  const bool plain = a.layout == SPTILE_LAYOUT_CSR && (a.row_dtype == 0 || a.row_dtype == SPTILE_DTYPE_I64) &&
                     (a.col_dtype == 0 || a.col_dtype == SPTILE_DTYPE_I32) &&
                     a.disorder == SPTILE_DISORDER_REFUSE;
  if (plain) return {};
  return fail(Errc::unsupported,
              "arrays: host memory supports only SPTILE_LAYOUT_CSR with SPTILE_DTYPE_I64 row pointers, "
              "SPTILE_DTYPE_I32 columns "
              "and SPTILE_DISORDER_REFUSE; CUDA device memory supports all");
}

Status check_device_kind(const sptile_arrays& a) {
  if (a.layout != SPTILE_LAYOUT_CSR && a.layout != SPTILE_LAYOUT_COO)
    return fail(Errc::usage, "arrays.layout = " + std::to_string(a.layout) +
                                 "; use SPTILE_LAYOUT_CSR or SPTILE_LAYOUT_COO");
  if (a.disorder < SPTILE_DISORDER_REFUSE || a.disorder > SPTILE_DISORDER_SUM)
    return fail(Errc::usage, "arrays.disorder = " + std::to_string(a.disorder) +
                                 "; use SPTILE_DISORDER_REFUSE, SPTILE_DISORDER_SORT or SPTILE_DISORDER_SUM");
  return {};
}

/// Returns the index type of a code; 0 is the default type.
Result<DType> id_type(std::int32_t code, DType usual, const char* what) {
  if (code == 0) return usual;
  if (code == SPTILE_DTYPE_I32) return DType::i32;
  if (code == SPTILE_DTYPE_I64) return DType::i64;
  return fail(Errc::usage, std::string(what) + " = " + std::to_string(code) +
                               "; use SPTILE_DTYPE_I32 or SPTILE_DTYPE_I64");
}

}  // namespace

Result<MatrixArguments> matrix_arguments(const sptile_matrix_options* from) {
  MatrixArguments arguments;
  if (from == nullptr) return arguments;
  const auto given =
      read_struct<sptile_matrix_options>(from, SPTILE_SIZE_WITH(sptile_matrix_options, most_device_bytes),
                                         SPTILE_MATRIX_OPTIONS_INIT, "options");
  if (!given) return tl::unexpected(given.error());
  if (given->reserved != 0) return fail(Errc::usage, "options.reserved is not 0");
  arguments.copy = given->copy != 0;
  if (given->matrix != nullptr) arguments.matrix = given->matrix;
  arguments.options.trusted = given->trusted != 0;
  arguments.options.refreshable = given->refreshable != 0;
  if (given->most_device_bytes > 0) arguments.options.most_device_bytes = given->most_device_bytes;
  return arguments;
}

tl::unexpected<Error> names_a_bundles_matrix() {
  return fail(Errc::usage, "options.matrix selects a matrix of a bundle; it must be 0 for arrays");
}

Status check_shared(const char* call, const MatrixArguments& arguments) {
  if (!arguments.copy && arguments.matrix.empty()) return {};
  return fail(
      Errc::usage,
      std::string(call) +
          ": options.copy and options.matrix apply only to the function that opens the file; set them to 0");
}

Result<ArraysArgument> arrays_argument(const char* call, const sptile_arrays* from) {
  const auto arrays = read_struct<sptile_arrays>(from, SPTILE_SIZE_WITH(sptile_arrays, reserved),
                                                 SPTILE_ARRAYS_INIT, "arrays");
  if (!arrays) return tl::unexpected(arrays.error());
  if (Status s = check_shape(call, *arrays); !s) return tl::unexpected(s.error());
  const auto device = device_of(arrays->device, "arrays.device");
  if (!device) return tl::unexpected(device.error());
  const auto dtype = matrix_value_type(call, arrays->values, arrays->value_dtype, arrays->nnz);
  if (!dtype) return tl::unexpected(dtype.error());
  return ArraysArgument{*arrays, *device, *dtype};
}

Result<formats::CsrView> host_view(const ArraysArgument& argument) {
  const sptile_arrays& a = argument.arrays;
  if (Status s = check_host_kind(a); !s) return tl::unexpected(s.error());
  const auto* row_ptr = static_cast<const std::int64_t*>(a.row);
  if (row_ptr[a.rows] != a.nnz)
    return fail(Errc::bad_input, "csr: row_ptr[" + std::to_string(a.rows) +
                                     "] = " + std::to_string(row_ptr[a.rows]) +
                                     ", but nnz = " + std::to_string(a.nnz));
  return formats::CsrView{
      a.rows,
      a.cols,
      {row_ptr, static_cast<std::size_t>(a.rows) + 1},
      {static_cast<const std::int32_t*>(a.col), static_cast<std::size_t>(a.nnz)},
      argument.dtype == DType::none ? ArrayView() : ArrayView(argument.dtype, a.values, a.nnz)};
}

Result<cuda::DeviceEntries> device_entries(const ArraysArgument& argument) {
  static_assert(static_cast<int>(cuda::Disorder::sum) == SPTILE_DISORDER_SUM);
  const sptile_arrays& a = argument.arrays;
  if (Status s = check_device_kind(a); !s) return tl::unexpected(s.error());
  const bool pointers = a.layout == SPTILE_LAYOUT_CSR;
  const auto row = id_type(a.row_dtype, pointers ? DType::i64 : DType::i32, "arrays.row_dtype");
  if (!row) return tl::unexpected(row.error());
  const auto col = id_type(a.col_dtype, DType::i32, "arrays.col_dtype");
  if (!col) return tl::unexpected(col.error());
  return cuda::DeviceEntries{a.rows, a.cols, a.nnz,    a.row,          *row,     pointers,
                             a.col,  *col,   a.values, argument.dtype, a.ordinal};
}

}  // namespace sptile::runtime
