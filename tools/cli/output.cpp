#include "tools/cli/output.hpp"

#include <string>

#include "formats/core/printable.hpp"
#include "tools/cli/colour.hpp"

namespace sptile::tools {

void write_text(std::FILE* stream, std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const std::size_t escape = text.find('\033');
    const std::string_view plain = text.substr(0, escape);
    shown += printable(plain);
    text.remove_prefix(plain.size());
    if (text.empty()) break;
    const std::size_t code = colour_code(text, stream);
    shown += code > 0 ? std::string(text.substr(0, code)) : printable(text.substr(0, 1));
    text.remove_prefix(code > 0 ? code : 1);
  }
  write_control(stream, shown);
}

void write_control(std::FILE* stream, std::string_view sequence) {
  std::fwrite(sequence.data(), 1, sequence.size(), stream);  // finish_output reports failures
}

Status finish_output() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return {};
  return fail(Errc::io, "cannot write the result", "<stdout>");
}

}  // namespace sptile::tools
