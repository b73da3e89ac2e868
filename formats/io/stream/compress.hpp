// Compressed output: a table of codecs, chosen by the ending of the file's name.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace sptile::formats {

/// Encodes one stream.
class Encoder {
 public:
  virtual ~Encoder() = default;
  /// Takes all of `in`; appends to `out` what is ready of the stream, with `last` its end. std::bad_alloc
  /// when memory is short.
  virtual void encode(std::string_view in, bool last, std::string& out) = 0;
};

struct Compression {
  std::string_view ending;  ///< ".gz"
  std::unique_ptr<Encoder> (*make)();
};

/// Finds how a file of this name is compressed; nullptr when it is not.
const Compression* find_compression(std::string_view path);

}  // namespace sptile::formats
