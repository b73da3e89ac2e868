// JSON values. Headers that only name the type include tools/cli/result.hpp, which compiles faster.
#pragma once

#include <nlohmann/json.hpp>

#include "tools/cli/result.hpp"
#include "tools/pipeline/json_text.hpp"
