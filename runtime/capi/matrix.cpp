// Matrices of the C interface.
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "runtime/capi/arguments.hpp"
#include "runtime/capi/error.hpp"
#include "runtime/capi/handles.hpp"
#include "runtime/capi/matrix_arguments.hpp"

namespace sptile::runtime {
namespace {

Status open_matrix(const char* path, const sptile_matrix_options* options, sptile_matrix** out) {
  if (out == nullptr) return null_argument("sptile_matrix_open", "matrix");
  *out = nullptr;
  if (path == nullptr) return null_argument("sptile_matrix_open", "path");
  const auto arguments = matrix_arguments(options);
  if (!arguments) return tl::unexpected(arguments.error());
  auto bundle = Bundle::open(path, {.copy = arguments->copy, .matrix = arguments->matrix});
  if (!bundle) return tl::unexpected(bundle.error());
  *out = new sptile_matrix{Matrix::from_bundle(std::move(*bundle), arguments->options)};
  return {};
}

/// Copied arrays.
struct OwnedArrays {
  std::vector<std::int64_t> row_ptr;
  std::vector<std::int32_t> col_idx;
  std::vector<std::byte> values;
};

void copy_arrays(HostCsr& csr) {
  auto owned = std::make_shared<OwnedArrays>();
  formats::CsrView& view = csr.view;
  owned->row_ptr.assign(view.row_ptr.begin(), view.row_ptr.end());
  owned->col_idx.assign(view.col_idx.begin(), view.col_idx.end());
  owned->values.resize(static_cast<std::size_t>(view.values.bytes()));
  if (!owned->values.empty()) std::memcpy(owned->values.data(), view.values.data, owned->values.size());
  view.row_ptr = owned->row_ptr;
  view.col_idx = owned->col_idx;
  if (view.values.present()) view.values.data = owned->values.data();
  csr.owner = std::move(owned);
}

Result<std::shared_ptr<Matrix>> create_on_host(const ArraysArgument& arrays, const MatrixArguments& arguments,
                                               void* stream) {
  if (stream != nullptr) return fail(Errc::usage, "a matrix in host memory does not accept a stream");
  const auto view = host_view(arrays);
  if (!view) return tl::unexpected(view.error());
  HostCsr csr{*view, nullptr};
  if (arguments.copy) copy_arrays(csr);
  return Matrix::from_host(std::move(csr), arguments.options);
}

Result<std::shared_ptr<Matrix>> create_on_device(const ArraysArgument& arrays,
                                                 const MatrixArguments& arguments, void* stream) {
  const auto entries = device_entries(arrays);
  if (!entries) return tl::unexpected(entries.error());
  auto csr =
      cuda::canonical_csr(*entries, {arrays.disorder(), !arguments.copy, arguments.options.trusted}, stream);
  if (!csr) return tl::unexpected(csr.error());
  return Matrix::from_device(std::move(*csr), arguments.options);
}

Status create_matrix(const sptile_arrays* from, const sptile_matrix_options* options, void* stream,
                     sptile_matrix** out) {
  constexpr const char* kCall = "sptile_matrix_create";
  if (out == nullptr) return null_argument(kCall, "matrix");
  *out = nullptr;
  if (from == nullptr) return null_argument(kCall, "arrays");
  const auto arguments = matrix_arguments(options);
  if (!arguments) return tl::unexpected(arguments.error());
  if (!arguments->matrix.empty()) return names_a_bundles_matrix();
  const auto arrays = arrays_argument(kCall, from);
  if (!arrays) return tl::unexpected(arrays.error());
  auto matrix = arrays->device == Device::cpu ? create_on_host(*arrays, *arguments, stream)
                                              : create_on_device(*arrays, *arguments, stream);
  if (!matrix) return tl::unexpected(matrix.error());
  *out = new sptile_matrix{std::move(*matrix)};
  return {};
}

Status share_matrix(const sptile_matrix* handle, const sptile_matrix_options* options, sptile_matrix** out) {
  constexpr const char* kCall = "sptile_matrix_share";
  if (out == nullptr) return null_argument(kCall, "other");
  *out = nullptr;
  if (handle == nullptr) return null_argument(kCall, "matrix");
  const auto arguments = matrix_arguments(options);
  if (!arguments) return tl::unexpected(arguments.error());
  if (Status s = check_shared(kCall, *arguments); !s) return s;
  *out = new sptile_matrix{handle->matrix->shared(arguments->options)};
  return {};
}

/// Returns the order in which entries were given; null arrays for CSR order.
sptile_given given_of(const Matrix& matrix) {
  sptile_given given = {};
  given.count = matrix.nnz();
  const cuda::OwnedCsr* entries = matrix.device_entries();
  if (entries == nullptr || !entries->position.present()) return given;
  given.count = entries->position.size;
  given.position = static_cast<const std::int64_t*>(entries->position.data);
  given.first = static_cast<const std::int64_t*>(entries->first.data);
  given.device = SPTILE_DEVICE_CUDA;
  given.ordinal = entries->csr.ordinal;
  return given;
}

Status return_given(const sptile_matrix* handle, sptile_given* given) {
  if (handle == nullptr) return null_argument("sptile_matrix_given", "matrix");
  if (given == nullptr) return null_argument("sptile_matrix_given", "given");
  return write_struct(given, given_of(*handle->matrix), SPTILE_SIZE_WITH(sptile_given, ordinal), "given");
}

Status describe_matrix(const sptile_matrix* handle, sptile_matrix_info* info) {
  if (handle == nullptr) return null_argument("sptile_matrix_describe", "matrix");
  if (info == nullptr) return null_argument("sptile_matrix_describe", "info");
  const Matrix& matrix = *handle->matrix;
  const MatrixMemory memory = matrix.memory();
  const std::optional<bool> symmetric = matrix.symmetric();
  return write_struct<sptile_matrix_info>(info,
                                          {.size = sizeof(sptile_matrix_info),
                                           .rows = matrix.rows(),
                                           .cols = matrix.cols(),
                                           .nnz = matrix.nnz(),
                                           .value_dtype = static_cast<std::int32_t>(matrix.dtype()),
                                           .format_count = static_cast<std::int32_t>(matrix.formats().size()),
                                           .symmetric = symmetric ? (*symmetric ? 1 : 0) : -1,
                                           .transposed = matrix.transposed_count(),
                                           .host_bytes = memory.host,
                                           .device_bytes = memory.device,
                                           .content = matrix.content()},
                                          SPTILE_SIZE_WITH(sptile_matrix_info, device_bytes), "info");
}

Status name_format(const sptile_matrix* handle, int index, const char** name) {
  if (name == nullptr) return null_argument("sptile_matrix_format", "name");
  *name = nullptr;
  if (handle == nullptr) return null_argument("sptile_matrix_format", "matrix");
  const auto formats = handle->matrix->formats();
  if (index < 0 || index >= std::ssize(formats))
    return fail(Errc::usage, "sptile_matrix_format: index = " + std::to_string(index) + "; the matrix has " +
                                 std::to_string(formats.size()) + " stored formats, counted from 0");
  *name = formats[static_cast<std::size_t>(index)]->name.data();  // a literal of the format table
  return {};
}

/// Returns the arrays of a matrix in device memory.
sptile_arrays device_arrays(const cuda::DeviceCsr& csr) {
  sptile_arrays a = SPTILE_ARRAYS_INIT;
  a.nnz = csr.nnz;
  a.row = csr.row_ptr;
  a.col = csr.col_idx;
  a.values = csr.value_dtype == DType::none ? nullptr : csr.values;
  a.device = SPTILE_DEVICE_CUDA;
  a.ordinal = csr.ordinal;
  return a;
}

sptile_arrays host_arrays(const formats::CsrView& csr) {
  sptile_arrays a = SPTILE_ARRAYS_INIT;
  a.nnz = csr.nnz();
  a.row = csr.row_ptr.data();
  a.col = csr.col_idx.data();
  a.values = csr.values.data;
  return a;
}

Status return_arrays(const sptile_matrix* handle, sptile_arrays* arrays) {
  if (handle == nullptr) return null_argument("sptile_matrix_arrays", "matrix");
  if (arrays == nullptr) return null_argument("sptile_matrix_arrays", "arrays");
  const Matrix& matrix = *handle->matrix;
  sptile_arrays given;
  if (matrix.device_csr() != nullptr) {
    given = device_arrays(*matrix.device_csr());
  } else {
    const auto csr = matrix.host_csr();
    if (!csr) return tl::unexpected(csr.error());
    given = host_arrays(*csr);
  }
  given.rows = matrix.rows();
  given.cols = matrix.cols();
  given.value_dtype = static_cast<std::int32_t>(matrix.dtype());
  given.layout = SPTILE_LAYOUT_CSR;
  given.row_dtype = SPTILE_DTYPE_I64;
  given.col_dtype = SPTILE_DTYPE_I32;
  return write_struct(arrays, given, SPTILE_SIZE_WITH(sptile_arrays, reserved), "arrays");
}

Status refresh_matrix(sptile_matrix* handle, const sptile_values* from, void* stream) {
  constexpr const char* kCall = "sptile_matrix_refresh";
  if (handle == nullptr) return null_argument(kCall, "matrix");
  if (from == nullptr) return null_argument(kCall, "values");
  const auto values =
      read_struct<sptile_values>(from, SPTILE_SIZE_WITH(sptile_values, reserved), {}, "values");
  if (!values) return tl::unexpected(values.error());
  if (values->reserved != 0) return fail(Errc::usage, "values.reserved is not 0");
  if (values->data == nullptr && values->count > 0) return null_argument(kCall, "values.data");
  const auto type = value_type(values->value_dtype, "values.value_dtype");
  if (!type) return tl::unexpected(type.error());
  const ArrayView view(*type, values->data, values->count);
  if (values->order == nullptr) return handle->matrix->refresh(view, stream);
  return handle->matrix->refresh_packed(*values->order->plan->held, view, stream);
}

}  // namespace
}  // namespace sptile::runtime

using namespace sptile::runtime;

sptile_status sptile_matrix_open(const char* path, const sptile_matrix_options* options,
                                 sptile_matrix** matrix) {
  return guarded([&] { return open_matrix(path, options, matrix); });
}

sptile_status sptile_matrix_create(const sptile_arrays* arrays, const sptile_matrix_options* options,
                                   void* stream, sptile_matrix** matrix) {
  return guarded([&] { return create_matrix(arrays, options, stream, matrix); });
}

sptile_status sptile_matrix_share(const sptile_matrix* matrix, const sptile_matrix_options* options,
                                  sptile_matrix** other) {
  return guarded([&] { return share_matrix(matrix, options, other); });
}

void sptile_matrix_destroy(sptile_matrix* matrix) { delete matrix; }

sptile_status sptile_matrix_describe(const sptile_matrix* matrix, sptile_matrix_info* info) {
  return guarded([&] { return describe_matrix(matrix, info); });
}

sptile_status sptile_matrix_format(const sptile_matrix* matrix, int index, const char** name) {
  return guarded([&] { return name_format(matrix, index, name); });
}

sptile_status sptile_matrix_arrays(const sptile_matrix* matrix, sptile_arrays* arrays) {
  return guarded([&] { return return_arrays(matrix, arrays); });
}

sptile_status sptile_matrix_refresh(sptile_matrix* matrix, const sptile_values* values, void* stream) {
  return guarded([&] { return refresh_matrix(matrix, values, stream); });
}

sptile_status sptile_matrix_given(const sptile_matrix* matrix, sptile_given* given) {
  return guarded([&] { return return_given(matrix, given); });
}
