// The result of a verb: JSON or text, on stdout.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "formats/core/parameters.hpp"
#include "tools/cli/verb.hpp"

namespace sptile::tools {

using Json = nlohmann::ordered_json;  // keys stay in the order in which they are written

inline constexpr int kSchemaVersion = 1;

/// Starts a result: an object with schema_version and the verb.
Json new_result(const Session& session);

/// Gives the JSON form of named facts, one key each.
Json to_json(const Parameters& parameters);

/// Prints the result: the object with --json, else the text.
void print_result(const Session& session, const Json& json, const std::string& text);

/// Refuses --json when the verb's output itself goes to stdout: the two would mix.
Status check_stdout_free(const Session& session, const std::string& output);

}  // namespace sptile::tools
