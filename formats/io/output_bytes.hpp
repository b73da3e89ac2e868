// Where written bytes go: a file that appears whole or not at all, or standard output.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "formats/error.hpp"
#include "formats/io/atomic_file.hpp"

namespace sptile::formats {

class OutputBytes {
 public:
  /// "-" is standard output; otherwise as AtomicFile::create.
  static Result<OutputBytes> create(const std::string& path, bool force);

  /// Writes all of it; Errc::io otherwise.
  Status write(std::string_view bytes);
  /// Makes a file durable and visible.
  Status commit();

 private:
  OutputBytes() = default;
  std::string name_;
  int fd_ = -1;
  std::optional<AtomicFile> file_;
};

}  // namespace sptile::formats
