// Compressed output: a table of codecs, selected by the file name's extension.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace sptile::formats {

/// Encoder of one stream.
class Encoder {
 public:
  virtual ~Encoder() = default;
  /// Consumes all of `in` and appends the finished output to `out`; `last` ends the stream. Throws
  /// std::bad_alloc.
  virtual void encode(std::string_view in, bool last, std::string& out) = 0;
};

struct Compression {
  std::string_view ending;  ///< ".gz"
  std::unique_ptr<Encoder> (*make)();
};

/// Returns the compression for a file name; nullptr if it is not compressed.
const Compression* find_compression(std::string_view path);

}  // namespace sptile::formats
