// Output to a file that appears completely or not at all, optionally compressed, or to standard output.
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
  /// Opens standard output for "-"; otherwise creates the file (see AtomicFile::create), compressed according
  /// to its extension.
  static Result<OutputBytes> create(const std::string& path, Placing placing);

  /// Writes all bytes; Errc::io on failure.
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
