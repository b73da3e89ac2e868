// Sequential reader of tar archives.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "formats/core/error.hpp"
#include "formats/io/stream/decoded_stream.hpp"

namespace sptile::formats {

inline constexpr std::size_t kTarBlock = 512;

/// Returns whether these bytes start an archive: a header with a valid checksum, or with "ustar".
bool is_tar(std::string_view head);

struct TarEntry {
  std::string name;
  std::int64_t size = 0;   ///< bytes of content, as stated in the header
  bool is_file = false;    ///< not a folder, a link or a device
  bool is_sparse = false;  ///< stored as a sparse file
};

/// Reads ustar, pax, GNU and older archives, with names and sizes of any length. Errors are Errc::bad_input
/// with the file: wrong checksums or sizes, truncated archives.
class TarReader {
 public:
  /// `head` contains the first bytes of the archive (at most one block), which were already read. `archive`
  /// must outlive the reader.
  TarReader(DecodedStream& archive, std::string_view head);

  /// Returns the next entry, or nothing at the end of the archive, after reading the stream to its end.
  Result<std::optional<TarEntry>> next();
  /// Reads at least one byte of the entry's content, or returns 0 at its end.
  Result<std::int64_t> read(std::span<char> out);

 private:
  using Block = std::array<char, kTarBlock>;
  /// Attributes from extension headers that precede an entry.
  struct Ahead {
    std::string name;
    std::optional<std::int64_t> size;
    bool is_sparse = false;
  };

  Result<std::int64_t> fill(std::span<char> out);
  Status skip_content();
  Result<bool> read_header(Block& block);
  Result<std::string> read_extension();
  Status take_records(std::string_view records, Ahead& ahead) const;
  Status take_extension(char type, Ahead& ahead);
  Status drain();
  [[nodiscard]] tl::unexpected<Error> bad(std::string message) const;

  DecodedStream& archive_;
  Block head_{};
  std::size_t head_start_ = 0, head_end_ = 0;  // unread part of head_
  std::string last_;                           // name of the previous entry, for messages
  std::int64_t left_ = 0;                      // unread bytes of the content
  std::int64_t padding_ = 0;                   // bytes of padding after the content
};

}  // namespace sptile::formats
