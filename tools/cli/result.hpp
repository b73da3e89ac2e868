// Result of a verb: JSON or text on stdout.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "formats/core/parameters.hpp"
#include "tools/cli/verb.hpp"

namespace sptile::tools {

using Json = nlohmann::ordered_json;  // keys keep the order in which they are written

inline constexpr int kSchemaVersion = 1;

/// Creates a result: an object with schema_version and the verb.
Json new_result(const Session& session);

/// Returns named facts as a JSON object with one key each.
Json to_json(const Parameters& parameters);

/// Prints the result: the object with --json, otherwise the text.
void print_result(const Session& session, const Json& json, const std::string& text);

/// Refuses --json if the verb writes its output file to stdout, because the two would mix.
Status check_stdout_free(const Session& session, const std::string& output);

}  // namespace sptile::tools
