// Stored bytes of an input: a file, standard input or memory.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "formats/core/error.hpp"
#include "formats/core/progress.hpp"
#include "formats/io/stream/sha256.hpp"

namespace sptile::formats {

/// Opens a file once: format detection, reader and hash share the descriptor (see `again`). Uses read(2)
/// instead of a mapping: if another program shortens the file, this causes an error or a short read instead
/// of a signal, and one small buffer that stays in cache suffices.
class InputBytes {
 public:
  /// Opens a file, or standard input for "-"; Errc::io on failure. Opening a named pipe does not wait for its
  /// writer; reading does. `progress` must outlive this object; reads of a pipe or a terminal fail soon after
  /// it is cancelled.
  static Result<InputBytes> open(const std::string& path, const Progress* progress = nullptr);
  /// Takes ownership of the descriptor of a regular file and reads it from its start; `name` is for messages.
  static Result<InputBytes> from_file(int fd, std::string name);
  /// Reads from memory, which must outlive this object.
  static InputBytes from_memory(std::string_view bytes, std::string name);

  InputBytes(InputBytes&& other) noexcept;
  InputBytes& operator=(InputBytes&&) = delete;
  ~InputBytes();

  /// Returns whether the input is a file that can be read again.
  [[nodiscard]] bool is_file() const { return offset_.has_value(); }
  /// Returns another reader of the same file, at its start, even if the path now names another file.
  /// Errc::usage for other inputs.
  [[nodiscard]] Result<InputBytes> again() const;
  /// Returns the open descriptor; -1 for memory.
  [[nodiscard]] int fd() const { return fd_; }
  /// Releases ownership of the descriptor; ends reading.
  [[nodiscard]] int release();

  /// Returns the next bytes without consuming them, also from a pipe: `max` bytes, or fewer at the end of
  /// the input.
  Result<std::string_view> look(std::size_t max);

  /// Fills `out`; returns fewer bytes only at the end of the input.
  Result<std::int64_t> read(std::span<char> out);

  /// Starts hashing all bytes read from now on.
  void start_hash() { hash_.emplace(); }
  /// Returns the SHA-256 of the bytes read; empty if hashing was not started.
  std::string finish_hash() { return hash_ ? hash_->finish() : std::string(); }

  [[nodiscard]] const std::string& name() const { return name_; }           ///< for messages
  [[nodiscard]] std::optional<std::int64_t> size() const { return size_; }  ///< bytes, if known
  [[nodiscard]] std::int64_t position() const { return position_; }         ///< bytes read so far

 private:
  InputBytes() = default;
  Result<std::int64_t> read_some(std::span<char> out);
  Status wait_for_bytes() const;

  std::string name_;
  int fd_ = -1;
  const Progress* progress_ = nullptr;
  std::string_view memory_;  // used if there is no descriptor
  std::string ahead_;        // bytes returned by look() and not consumed
  std::optional<std::int64_t> size_;
  std::optional<off_t> offset_;  // offset of the next byte of a file that can be read again
  std::int64_t position_ = 0;
  std::optional<Sha256> hash_;
};

}  // namespace sptile::formats
