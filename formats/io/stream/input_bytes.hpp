// The bytes of an input as they are stored: a file, standard input, or memory.
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

/// Opens a file once: a look at its first bytes, its reader and its hash share the descriptor, see `again`.
/// Reads with read(2), not through a mapping: another program that shortens the file meanwhile then causes an
/// error or a short read instead of a signal, and one small buffer that stays in the cache does for all of
/// it.
class InputBytes {
 public:
  /// Opens a file, or standard input for "-"; Errc::io when that fails. Opening a named pipe does not wait
  /// for its writer, reading does. `progress` must outlive the object; reads of a pipe or a terminal fail
  /// soon after it is cancelled.
  static Result<InputBytes> open(const std::string& path, const Progress* progress = nullptr);
  /// Takes the descriptor of a regular file and reads it from its start; `name` is for messages.
  static Result<InputBytes> from_file(int fd, std::string name);
  /// Reads from memory, which must outlive the object.
  static InputBytes from_memory(std::string_view bytes, std::string name);

  InputBytes(InputBytes&& other) noexcept;
  InputBytes& operator=(InputBytes&&) = delete;
  ~InputBytes();

  /// Whether it is a file that was opened by its path, and can be read again.
  [[nodiscard]] bool is_file() const { return offset_.has_value(); }
  /// Another reader of the same file, from its start, whatever has its path now. Errc::usage for anything
  /// else.
  [[nodiscard]] Result<InputBytes> again() const;
  /// The open descriptor; -1 for memory.
  [[nodiscard]] int fd() const { return fd_; }
  /// Gives the descriptor away; nothing can be read any more.
  [[nodiscard]] int release();

  /// The next bytes, at most `most`, fewer only where the input ends. They are still to be read: also a pipe
  /// can be looked into.
  Result<std::string_view> look(std::size_t most);

  /// Fills `out`; gives fewer bytes only where the input ends.
  Result<std::int64_t> read(std::span<char> out);

  /// Starts hashing everything that is read from now on.
  void start_hash() { hash_.emplace(); }
  /// Gives the SHA-256 of what was read; empty when it was not started.
  std::string finish_hash() { return hash_ ? hash_->finish() : std::string(); }

  [[nodiscard]] const std::string& name() const { return name_; }           ///< for messages
  [[nodiscard]] std::optional<std::int64_t> size() const { return size_; }  ///< where it is known
  [[nodiscard]] std::int64_t position() const { return position_; }         ///< bytes read so far

 private:
  InputBytes() = default;
  Result<std::int64_t> read_some(std::span<char> out);
  Status wait_for_bytes() const;

  std::string name_;
  int fd_ = -1;
  const Progress* progress_ = nullptr;
  std::string_view memory_;  // used when there is no fd
  std::string ahead_;        // looked at, still to be read
  std::optional<std::int64_t> size_;
  std::optional<off_t> offset_;  // of the next byte in a file that can be read again
  std::int64_t position_ = 0;
  std::optional<Sha256> hash_;
};

}  // namespace sptile::formats
