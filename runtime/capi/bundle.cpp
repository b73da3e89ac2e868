// Bundles of the C interface.
#include <string>

#include "runtime/capi/error.hpp"
#include "runtime/capi/handles.hpp"

using namespace sptile::runtime;
using sptile::Errc;
using sptile::fail;
using sptile::Status;

sptile_status sptile_bundle_open(const char* path, int copy, sptile_bundle** bundle) {
  return guarded([&]() -> Status {
    if (bundle == nullptr) return null_argument("sptile_bundle_open", "bundle");
    *bundle = nullptr;
    if (path == nullptr) return null_argument("sptile_bundle_open", "path");
    auto opened = Bundle::open(path, {.copy = copy != 0});
    if (!opened) return tl::unexpected(opened.error());
    *bundle = new sptile_bundle{std::move(*opened)};
    return {};
  });
}

void sptile_bundle_close(sptile_bundle* bundle) { delete bundle; }

sptile_status sptile_bundle_shape(const sptile_bundle* bundle, int64_t* rows, int64_t* cols, int64_t* nnz) {
  return guarded([&]() -> Status {
    if (bundle == nullptr) return null_argument("sptile_bundle_shape", "bundle");
    if (rows != nullptr) *rows = bundle->bundle->rows();
    if (cols != nullptr) *cols = bundle->bundle->cols();
    if (nnz != nullptr) *nnz = bundle->bundle->nnz();
    return {};
  });
}

sptile_status sptile_bundle_dtype(const sptile_bundle* bundle, sptile_dtype* dtype) {
  return guarded([&]() -> Status {
    if (bundle == nullptr) return null_argument("sptile_bundle_dtype", "bundle");
    if (dtype == nullptr) return null_argument("sptile_bundle_dtype", "dtype");
    *dtype = static_cast<sptile_dtype>(bundle->bundle->dtype());
    return {};
  });
}

sptile_status sptile_bundle_format_count(const sptile_bundle* bundle, int* count) {
  return guarded([&]() -> Status {
    if (bundle == nullptr) return null_argument("sptile_bundle_format_count", "bundle");
    if (count == nullptr) return null_argument("sptile_bundle_format_count", "count");
    *count = static_cast<int>(bundle->bundle->formats().size());
    return {};
  });
}

sptile_status sptile_bundle_format_name(const sptile_bundle* bundle, int index, const char** name) {
  return guarded([&]() -> Status {
    if (bundle == nullptr) return null_argument("sptile_bundle_format_name", "bundle");
    if (name == nullptr) return null_argument("sptile_bundle_format_name", "name");
    *name = nullptr;
    const auto& formats = bundle->bundle->formats();
    if (index < 0 || index >= std::ssize(formats))
      return fail(Errc::usage, "sptile_bundle_format_name: index " + std::to_string(index) + " of " +
                                   std::to_string(formats.size()) + " formats");
    *name = formats[static_cast<std::size_t>(index)].layout->name.data();  // a literal of the layout table
    return {};
  });
}
