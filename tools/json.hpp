// JSON values, for files that make or read them. Headers that only name them include tools/result.hpp, which
// is cheap.
#pragma once

#include <nlohmann/json.hpp>

#include "tools/json_text.hpp"
#include "tools/result.hpp"
