// Bytes of a bundle: a mapped or read file, or borrowed memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "formats/core/error.hpp"

namespace sptile::runtime {

/// A range of a file.
struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// A regular file, open for reading, or borrowed memory. Errors are Errc::io unless stated otherwise.
class FileBytes {
 public:
  /// Opens a file. Errc::bad_input if it is not a regular file.
  static Result<FileBytes> open(const std::string& path);
  /// Takes a descriptor that is open for reading and closes it. Errors as for open.
  static Result<FileBytes> take(int fd);
  /// Borrows memory, which must outlive the object.
  static FileBytes borrow(std::span<const std::byte> memory);

  FileBytes(FileBytes&&) noexcept;
  FileBytes& operator=(FileBytes&&) noexcept;
  ~FileBytes();

  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// Returns the descriptor of the file; -1 after it was closed.
  [[nodiscard]] int descriptor() const { return fd_; }
  /// Prevents map and load from closing the file.
  void keep_open() { keep_open_ = true; }

  /// Copies bytes starting at `offset`. Fails if the file is shorter.
  [[nodiscard]] Status read(std::uint64_t offset, std::span<std::byte> to) const;

  /// Maps the entire file read-only, shared with the page cache, and closes it. O(1).
  Status map();
  /// Reads the given ranges into private memory and closes the file. data() has the same layout as after map,
  /// with zeros outside the ranges.
  Status load(std::span<const ByteRange> pieces);

  /// Returns the start of the file in memory, after map or load; page-aligned unless borrowed.
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
