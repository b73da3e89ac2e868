// Checks and conversion of the arguments of functions that create matrices.
#pragma once

#include <string>

#include "formats/core/csr_view.hpp"
#include "runtime/core/options.hpp"
#include "runtime/handle/matrix.hpp"
#include "runtime/include/sptile.h"

namespace sptile::runtime {

/// Options of a matrix except its arrays.
struct MatrixArguments {
  MatrixOptions options;
  bool copy = false;
  std::string matrix = {};  ///< name in a bundle; empty: the first matrix
};
Result<MatrixArguments> matrix_arguments(const sptile_matrix_options* from);

/// Returns Errc::usage for MatrixArguments::matrix without a bundle.
tl::unexpected<Error> names_a_bundles_matrix();

/// Errc::usage for file options if the data is already open. Messages start with `call`.
Status check_shared(const char* call, const MatrixArguments& arguments);

/// Arrays with valid sizes and codes; no element was read.
struct ArraysArgument {
  sptile_arrays arrays;
  Device device;
  DType dtype;  ///< value type; DType::none: a pattern

  /// Returns the disorder, for arrays in device memory.
  [[nodiscard]] cuda::Disorder disorder() const { return static_cast<cuda::Disorder>(arrays.disorder); }
};
/// Converts arrays. Messages start with `call`. `from` must not be null.
Result<ArraysArgument> arrays_argument(const char* call, const sptile_arrays* from);

/// Returns the matrix of arrays in host memory. Reads only the last row offset. Errc::unsupported for arrays
/// that are supported only in device memory.
Result<formats::CsrView> host_view(const ArraysArgument& argument);

/// Returns the entries of arrays in device memory.
Result<cuda::DeviceEntries> device_entries(const ArraysArgument& argument);

}  // namespace sptile::runtime
