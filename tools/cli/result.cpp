#include "tools/cli/result.hpp"

#include <cstdio>
#include <optional>
#include <sstream>

#include "tools/cli/json.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/progress_bar.hpp"
#include "tools/cli/terminal.hpp"
#include "tools/cli/text_layout.hpp"

namespace sptile::tools {
namespace {

// Wraps sentences; tables already fit. Lines in files and pipes are not wrapped.
std::string fit_terminal(const std::string& text) {
  const std::optional<int> columns = terminal_columns(stdout);
  if (!columns) return text;
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    result += (display_width(line) > *columns ? wrap(line, *columns, 4) : line) + "\n";
  return result;
}

}  // namespace

Json new_result(const Session& session) {
  return {{"schema_version", kSchemaVersion}, {"verb", session.verb}};
}

Json to_json(const Parameters& parameters) {
  Json object = Json::object();
  for (const auto& [name, value] : parameters)
    value.visit([&object, &key = name](const auto& v) { object[key] = v; });
  return object;
}

void print_result(const Session& session, const Json& json, const std::string& text) {
  if (session.bar != nullptr) session.bar->finish();
  write_text(stdout, session.common.json ? json_text(json, 2) + "\n" : fit_terminal(text));
}

Status check_stdout_free(const Session& session, const std::string& output) {
  if (session.common.json && output == "-")
    return fail(Errc::usage, "--json and the output both use standard output; name an output file");
  return {};
}

}  // namespace sptile::tools
