#include "tools/cli/complaint.hpp"

#include <cstdio>

#include "tools/cli/colour.hpp"
#include "tools/cli/output.hpp"

namespace sptile::tools {

int complain(const std::string& verb, const Error& error) {
  const std::string speaker = verb.empty() ? "sptile" : "sptile " + verb;
  const std::string place = (error.where.empty() ? speaker : error.where) + ":";
  write_text(stderr, styled(Style::error, place, stderr) + " " + error.message + "\n");
  return static_cast<int>(error.code);
}

}  // namespace sptile::tools
