#include "tools/doctor/installed_library.hpp"

#include <dlfcn.h>

#include <type_traits>

#include "formats/io/files/install_place.hpp"
#include "runtime/include/sptile.h"

namespace sptile::tools::doctor {
namespace {

constexpr formats::InstallPlace kPlaces[] = {
    {"sptile.scripts", ".sptile.mesonpy.libs/libsptile.so.0"},  // a wheel
    {SPTILE_BINDIR, SPTILE_LIBDIR "/libsptile.so.0"},
    {"tools", "runtime/libsptile.so.0"},  // build directory
};

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

struct Calls {
  decltype(&sptile_matrix_create) create = nullptr;
  decltype(&sptile_matrix_destroy) destroy = nullptr;
  decltype(&sptile_predict) predict = nullptr;
  decltype(&sptile_last_error) last_error = nullptr;
};

std::optional<Calls> calls_of(void* library) {
  Calls calls;
  const bool complete = find(library, "sptile_matrix_create", calls.create) &&
                        find(library, "sptile_matrix_destroy", calls.destroy) &&
                        find(library, "sptile_predict", calls.predict) &&
                        find(library, "sptile_last_error", calls.last_error);
  return complete ? std::optional(calls) : std::nullopt;
}

// Predicts the kernels of a 1 x 1 matrix on the first device. The status distinguishes a build without CUDA
// kernels from a machine without a device.
sptile_status predict_on_cuda(const Calls& calls) {
  const std::int64_t row[] = {0, 1};
  const std::int32_t column = 0;
  sptile_arrays arrays = SPTILE_ARRAYS_INIT;
  arrays.rows = arrays.cols = arrays.nnz = 1;
  arrays.row = row;
  arrays.col = &column;
  sptile_matrix* matrix = nullptr;
  if (const sptile_status s = calls.create(&arrays, nullptr, nullptr, &matrix); s != SPTILE_STATUS_OK)
    return s;
  sptile_plan_options options = SPTILE_PLAN_OPTIONS_INIT;
  options.n = 1;
  options.device = SPTILE_DEVICE_CUDA;
  int count = 0;
  const sptile_status status =
      calls.predict(matrix, "spmm", &options, nullptr, sizeof(sptile_prediction), 0, &count);
  calls.destroy(matrix);
  return status;
}

}  // namespace

std::optional<InstalledLibrary> inspect_library(const std::string& path) {
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // stays loaded, as CUDA requires
  if (library == nullptr) return std::nullopt;
  const auto calls = calls_of(library);
  if (!calls) return std::nullopt;
  const sptile_status status = predict_on_cuda(*calls);
  return InstalledLibrary{path, status != SPTILE_STATUS_UNSUPPORTED,
                          status == SPTILE_STATUS_OK ? "" : calls->last_error()};
}

std::optional<InstalledLibrary> find_installed_library() {
  for (const std::string& path : formats::installed_paths(kPlaces))
    if (auto library = inspect_library(path)) return library;
  return std::nullopt;
}

}  // namespace sptile::tools::doctor
