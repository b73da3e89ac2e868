#include "tools/capi/csr_copy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "formats/io/text/numbers.hpp"
#include "formats/layout/csr.hpp"
#include "runtime/capi/arguments.hpp"
#include "runtime/capi/error.hpp"

namespace sptile::tools {
namespace {

constexpr std::int64_t kMaxIds = std::numeric_limits<std::int32_t>::max();

Status check_codes(const sptile_arrays& a) {
  const struct {
    std::int32_t code;
    bool right;
    const char *field, *choices;
  } codes[] = {
      {a.layout, a.layout == SPTILE_LAYOUT_CSR, "layout", "SPTILE_LAYOUT_CSR"},
      {a.device, a.device == SPTILE_DEVICE_CPU, "device", "SPTILE_DEVICE_CPU"},
      {a.row_dtype, a.row_dtype == 0 || a.row_dtype == SPTILE_DTYPE_I32 || a.row_dtype == SPTILE_DTYPE_I64,
       "row_dtype", "SPTILE_DTYPE_I32 or SPTILE_DTYPE_I64"},
      {a.col_dtype, a.col_dtype == 0 || a.col_dtype == SPTILE_DTYPE_I32 || a.col_dtype == SPTILE_DTYPE_I64,
       "col_dtype", "SPTILE_DTYPE_I32 or SPTILE_DTYPE_I64"},
      {a.disorder, a.disorder >= SPTILE_DISORDER_REFUSE && a.disorder <= SPTILE_DISORDER_SUM, "disorder",
       "SPTILE_DISORDER_REFUSE, SPTILE_DISORDER_SORT or SPTILE_DISORDER_SUM"},
      {a.reserved, a.reserved == 0, "reserved", "0"},
  };
  for (const auto& row : codes)
    if (!row.right)
      return fail(Errc::usage, fmt::format("arrays.{} = {}; use {}", row.field, row.code, row.choices));
  return {};
}

Status check_sizes(const sptile_arrays& a) {
  if (a.rows < 0 || a.cols < 0 || a.nnz < 0)
    return fail(Errc::usage,
                fmt::format("rows = {}, cols = {}, nnz = {}; none may be negative", a.rows, a.cols, a.nnz));
  if (a.rows > kMaxIds || a.cols > kMaxIds)
    return fail(Errc::unsupported,
                fmt::format("{} x {}: more than 2^31 - 1 rows or columns", a.rows, a.cols));
  if (a.row == nullptr) return fail(Errc::usage, "arrays.row is NULL");
  if (a.col == nullptr && a.nnz > 0) return fail(Errc::usage, "arrays.col is NULL");
  return {};
}

// Row offsets must be valid before they are used as indices.
template <class Id>
Status copy_rows(const sptile_arrays& a, formats::Csr& csr) {
  const auto* const from = static_cast<const Id*>(a.row);
  csr.row_ptr = formats::Buffer<std::int64_t>(a.rows + 1);
  std::int64_t before = 0;
  for (std::int64_t row = 0; row <= a.rows; ++row) {
    const std::int64_t at = from[row];
    if (row == 0 && at != 0) return fail(Errc::bad_input, fmt::format("row_ptr[0] is {}, not 0", at));
    if (at < before || at > a.nnz)
      return fail(Errc::bad_input,
                  fmt::format("row_ptr[{}] is {}; it must be from {} to {}", row, at, before, a.nnz));
    csr.row_ptr[row] = before = at;
  }
  if (before == a.nnz) return {};
  return fail(Errc::bad_input,
              fmt::format("row_ptr[{}] is {}, expected the number of entries, {}", a.rows, before, a.nnz));
}

template <class Id>
Status copy_columns(const sptile_arrays& a, formats::Csr& csr) {
  const auto* const from = static_cast<const Id*>(a.col);
  csr.col_idx = formats::Buffer<std::int32_t>(a.nnz);
  for (std::int64_t i = 0; i < a.nnz; ++i) {
    const std::int64_t col = from[i];
    if (col < 0 || col >= a.cols)
      return fail(Errc::bad_input, fmt::format("col_idx[{}] is {}; expected 0 to {}", i, col, a.cols - 1));
    csr.col_idx[i] = static_cast<std::int32_t>(col);
  }
  return {};
}

// Checks or sorts the columns, the last unchecked property.
Status order_entries(std::int32_t disorder, formats::AssembledCsr& made) {
  if (disorder == SPTILE_DISORDER_REFUSE) return formats::check_csr(made.csr.view());
  const DType sums = formats::sum_type(made.csr.values.dtype());
  made.duplicates = formats::sum_entries(made.csr, sums, made.integers, made.loss);
  if (made.duplicates == 0 || disorder == SPTILE_DISORDER_SUM) return {};
  return fail(
      Errc::bad_input,
      fmt::format("duplicate entries: {}; sum them first, or pass SPTILE_DISORDER_SUM", made.duplicates));
}

constexpr formats::NumberType kInteger{formats::NumberKind::integer, 8};

// Returns the value type; integers are supported here only.
Result<DType> type_of_values(const sptile_arrays& a) {
  if (a.value_dtype != SPTILE_DTYPE_I64)
    return runtime::matrix_value_type("sptile_tools_copy", a.values, a.value_dtype, a.nnz);
  if (a.values == nullptr && a.nnz > 0) return runtime::null_argument("sptile_tools_copy", "values");
  return formats::value_type(kInteger);
}

void copy_values(const sptile_arrays& a, DType dtype, formats::AssembledCsr& made) {
  made.integers = dtype == DType::none || a.value_dtype == SPTILE_DTYPE_I64;
  if (dtype == DType::none) return;
  formats::Array& values = made.csr.values;
  values = formats::Array(dtype, a.nnz);
  if (a.nnz == 0) return;
  if (a.value_dtype == SPTILE_DTYPE_I64)
    made.loss.inexact =
        formats::to_values(kInteger, static_cast<const char*>(a.values), a.nnz, values.data());
  else
    std::memcpy(values.data(), a.values, static_cast<std::size_t>(values.view().bytes()));
}

}  // namespace

Result<formats::AssembledCsr> copy_csr(const sptile_arrays& a) {
  if (Status s = check_codes(a); !s) return tl::unexpected(s.error());
  if (Status s = check_sizes(a); !s) return tl::unexpected(s.error());
  const auto dtype = type_of_values(a);
  if (!dtype) return tl::unexpected(dtype.error());
  formats::AssembledCsr made;
  formats::Csr& csr = made.csr;
  csr.rows = a.rows, csr.cols = a.cols;
  if (Status s =
          a.row_dtype == SPTILE_DTYPE_I32 ? copy_rows<std::int32_t>(a, csr) : copy_rows<std::int64_t>(a, csr);
      !s)
    return tl::unexpected(s.error());
  if (Status s = a.col_dtype == SPTILE_DTYPE_I64 ? copy_columns<std::int64_t>(a, csr)
                                                 : copy_columns<std::int32_t>(a, csr);
      !s)
    return tl::unexpected(s.error());
  copy_values(a, *dtype, made);
  if (Status s = order_entries(a.disorder, made); !s) return tl::unexpected(s.error());
  return made;
}

}  // namespace sptile::tools
