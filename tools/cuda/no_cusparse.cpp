// Replaces cusparse.cpp in builds without its header.
#include "tools/cuda/cusparse.hpp"

namespace sptile::tools::cuda {

std::vector<std::string_view> cusparse_kernels(const runtime::Operation&, std::int64_t) { return {}; }

Result<Launch> prepare_cusparse(std::string_view, const DeviceCsr&, const runtime::Operands&, std::int64_t) {
  return fail(Errc::unsupported, "this build has no cuSPARSE");
}

}  // namespace sptile::tools::cuda
