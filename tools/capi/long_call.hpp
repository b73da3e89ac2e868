// A call of the C interface that takes long: told how far it is, stopped, and no exception crosses it.
#pragma once

#include <functional>

#include "formats/error.hpp"
#include "tools/capi/sptile_tools.h"
#include "tools/work.hpp"

namespace sptile::tools {

/// Does the step with the seed and threads of the options and reports its error, or whatever it throws. With
/// a progress callback it is done on a thread of its own, and this one tells.
sptile_status long_call(const sptile_tools_options& options,
                        const std::function<Status(Work& work)>& step) noexcept;

}  // namespace sptile::tools
