// Where written bytes go: a file that appears whole or not at all, perhaps compressed, or standard output.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "formats/core/error.hpp"
#include "formats/io/files/atomic_file.hpp"
#include "formats/io/stream/compress.hpp"

namespace sptile::formats {

class OutputBytes {
 public:
  /// "-" is standard output; otherwise as AtomicFile::create, compressed as the ending of the name says.
  static Result<OutputBytes> create(const std::string& path, Placing placing);

  /// Writes all of it; Errc::io otherwise.
  Status write(std::string_view bytes);
  /// Makes a file durable and visible.
  Status commit();

 private:
  OutputBytes() = default;
  Status write_encoded(std::string_view bytes, bool last);
  Status write_plain(std::string_view bytes);

  std::string name_;
  int fd_ = -1;
  std::optional<AtomicFile> file_;
  std::unique_ptr<Encoder> encoder_;
};

}  // namespace sptile::formats
