// Where the bytes of a bundle come from: a file that is mapped or read, or memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "formats/core/error.hpp"

namespace sptile::runtime {

/// A piece of a file.
struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// A regular file, open for reading, or borrowed memory that stands for one. Errors are Errc::io unless
/// stated.
class FileBytes {
 public:
  /// Opens a file. Errc::bad_input for anything that is not a regular file.
  static Result<FileBytes> open(const std::string& path);
  /// Takes a file that is open for reading as `fd`, which it closes; errors as open.
  static Result<FileBytes> take(int fd);
  /// Borrows memory, which must outlive the object.
  static FileBytes borrow(std::span<const std::byte> memory);

  FileBytes(FileBytes&&) noexcept;
  FileBytes& operator=(FileBytes&&) noexcept;
  ~FileBytes();

  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// The open file; -1 once it is closed.
  [[nodiscard]] int descriptor() const { return fd_; }
  /// map and load do not close the file.
  void keep_open() { keep_open_ = true; }

  /// Copies the bytes from `offset` on; fails when the file ends before.
  [[nodiscard]] Status read(std::uint64_t offset, std::span<std::byte> to) const;

  /// Maps the whole file read-only, shared with the page cache; closes it. Costs the same for any size.
  Status map();
  /// Reads the given pieces (inside the file) into private memory; closes the file. data() has the same
  /// layout as with map, and zeros outside the pieces.
  Status load(std::span<const ByteRange> pieces);

  /// Start of the file in memory, after map or load; page-aligned unless borrowed.
  [[nodiscard]] const std::byte* data() const { return data_; }

 private:
  FileBytes() = default;
  Status reserve(int protection, int flags, int fd);
  void close_file();
  void done_with_file();

  int fd_ = -1;
  std::uint64_t size_ = 0;
  const std::byte* data_ = nullptr;
  bool owned_ = false;  ///< data_ is a mapping of size_ bytes
  bool keep_open_ = false;
};

}  // namespace sptile::runtime
