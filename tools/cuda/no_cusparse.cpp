// Stands in for cusparse.cpp where its header was missing.
#include "tools/cuda/cusparse.hpp"

namespace sptile::tools::cuda {

std::span<const std::string_view> cusparse_kernels(std::string_view) { return {}; }

bool cusparse_found() { return false; }

Result<std::function<Status()>> prepare_cusparse(std::string_view, const DeviceCsr&, const void*, void*,
                                                 std::int64_t) {
  return fail(Errc::unsupported, "this build has no cuSPARSE");
}

Result<std::function<Status()>> prepare_cusparse_sddmm(const DeviceCsr&, const void*, const void*, void*,
                                                       std::int64_t) {
  return fail(Errc::unsupported, "this build has no cuSPARSE");
}

}  // namespace sptile::tools::cuda
