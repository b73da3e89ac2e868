// Arguments of the functions that make matrices, checked and turned into ours.
#pragma once

#include <string>

#include "formats/core/csr_view.hpp"
#include "runtime/core/options.hpp"
#include "runtime/handle/matrix.hpp"
#include "runtime/include/sptile.h"

namespace sptile::runtime {

/// Everything about a matrix that is not in its arrays.
struct MatrixArguments {
  MatrixOptions options;
  bool copy = false;
  std::string matrix = {};  ///< which of a bundle; empty: the first
};
Result<MatrixArguments> matrix_arguments(const sptile_matrix_options* from);

/// Errc::usage for MatrixArguments::matrix where there is no bundle.
tl::unexpected<Error> names_a_bundles_matrix();

/// Errc::usage for options of a file where the data are there already. `call` names the function.
Status check_shared(const char* call, const MatrixArguments& arguments);

/// Arrays with sizes and codes that make sense; no element was read.
struct ArraysArgument {
  sptile_arrays arrays;
  Device device;
  DType dtype;  ///< of the values; none: a pattern

  /// In device memory.
  [[nodiscard]] cuda::Disorder disorder() const { return static_cast<cuda::Disorder>(arrays.disorder); }
};
/// `call` names the function in messages. `from` is not null.
Result<ArraysArgument> arrays_argument(const char* call, const sptile_arrays* from);

/// The matrix that arrays in host memory are, of which the last row pointer alone was read. Errc::unsupported
/// for what is served in device memory only.
Result<formats::CsrView> host_view(const ArraysArgument& argument);

/// Arrays in device memory.
Result<cuda::DeviceEntries> device_entries(const ArraysArgument& argument);

}  // namespace sptile::runtime
