// JSON values, for files that make or read them. Headers that only name them include tools/cli/result.hpp,
// which is cheap.
#pragma once

#include <nlohmann/json.hpp>

#include "tools/cli/result.hpp"
#include "tools/pipeline/json_text.hpp"
