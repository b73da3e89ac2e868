// Tar archives, read from front to back.
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

/// True where an archive starts with these bytes: a header whose checksum is right, or one that says "ustar".
bool is_tar(std::string_view head);

struct TarEntry {
  std::string name;
  std::int64_t size = 0;   ///< bytes of its content; not proven
  bool is_file = false;    ///< not a folder, a link or a device
  bool is_sparse = false;  ///< its content is stored with holes
};

/// Reads ustar, pax and GNU archives and those of before, with long names and any sizes. Errors are
/// Errc::bad_input with the file: wrong checksums and sizes, archives that are cut off.
class TarReader {
 public:
  /// `head` are the first bytes of the archive, which were read already: at most one block. `archive` must
  /// outlive the reader.
  TarReader(DecodedStream& archive, std::string_view head);

  /// Goes to the next entry; nothing at the end of the archive, the stream behind it read to its end.
  Result<std::optional<TarEntry>> next();
  /// Gives at least one byte of the entry's content, 0 at its end.
  Result<std::int64_t> read(std::span<char> out);

 private:
  using Block = std::array<char, kTarBlock>;
  /// What headers in front of an entry say of it.
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
  std::size_t head_start_ = 0, head_end_ = 0;  // what was not yet taken of it
  std::string last_;                           // name of the entry that came last, for messages
  std::int64_t left_ = 0;                      // bytes of the content
  std::int64_t padding_ = 0;                   // and behind it, up to a whole block
};

}  // namespace sptile::formats
