#include "tools/bench/batch/place.hpp"

namespace sptile::tools::batch {

Result<std::unique_ptr<Place>> cuda_place() { return fail(Errc::device, "sptile was built without CUDA"); }

}  // namespace sptile::tools::batch
