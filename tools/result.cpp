#include "tools/result.hpp"

#include <cstdio>

#include "tools/json.hpp"
#include "tools/progress_bar.hpp"

namespace sptile::tools {

Json new_result(const Session& session) {
  return {{"schema_version", kSchemaVersion}, {"verb", session.verb}};
}

Json to_json(const Parameters& parameters) {
  Json object = Json::object();
  for (const auto& [name, value] : parameters)
    std::visit([&object, &key = name](const auto& v) { object[key] = v; }, value);
  return object;
}

void print_result(const Session& session, const Json& json, const std::string& text) {
  if (session.bar != nullptr) session.bar->finish();
  // File names may hold any bytes; JSON must be UTF-8.
  const std::string out =
      session.common.json ? json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n" : text;
  std::fwrite(out.data(), 1, out.size(), stdout);
}

Status check_stdout_free(const Session& session, const std::string& output) {
  if (session.common.json && output == "-")
    return fail(Errc::usage, "--json and the output both want stdout; name an output file");
  return {};
}

}  // namespace sptile::tools
