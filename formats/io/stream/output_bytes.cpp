#include "formats/io/stream/output_bytes.hpp"

#include <unistd.h>

#include <utility>

#include "formats/io/files/file_writes.hpp"
#include "formats/io/files/system_error.hpp"

namespace sptile::formats {

Result<OutputBytes> OutputBytes::create(const std::string& path, Placing placing) {
  OutputBytes output;
  if (path == "-") {
    output.name_ = "<stdout>";
    output.fd_ = STDOUT_FILENO;
    return output;
  }
  Result<AtomicFile> file = AtomicFile::create(path, placing);
  if (!file) return tl::unexpected(file.error());
  output.name_ = path;
  output.file_ = *std::move(file);
  output.fd_ = output.file_->fd();
  if (const Compression* const compression = find_compression(path)) output.encoder_ = compression->make();
  return output;
}

Status OutputBytes::write(std::string_view bytes) {
  return encoder_ ? write_encoded(bytes, false) : write_plain(bytes);
}

Status OutputBytes::write_encoded(std::string_view bytes, bool last) {
  std::string encoded;
  encoder_->encode(bytes, last, encoded);
  return write_plain(encoded);
}

Status OutputBytes::write_plain(std::string_view bytes) {
  const int failed = write_all(fd_, bytes.data(), bytes.size());
  if (failed != 0) return system_failure(failed, "cannot write", name_);
  return {};
}

Status OutputBytes::commit() {
  if (encoder_)
    if (Status s = write_encoded({}, true); !s) return s;
  return file_ ? file_->commit() : Status();
}

}  // namespace sptile::formats
