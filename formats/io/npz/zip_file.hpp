// Zip archives: random access reader, sequential writer.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/core/error.hpp"
#include "formats/io/files/atomic_file.hpp"

namespace sptile::formats {

/// Magic numbers of archives with and without members.
inline constexpr std::string_view kZipMagic = "PK\x03\x04", kEmptyZipMagic = "PK\x05\x06";

/// An archive open for reading, one member at a time. Errors are Errc::bad_input with file and member.
class ZipReader {
 public:
  static Result<ZipReader> open(const std::string& path);
  /// Reads the file open as `fd` and takes ownership of it.
  static Result<ZipReader> open(int fd, std::string name);
  /// Reads from memory, which must outlive this object.
  static Result<ZipReader> from_memory(std::string_view bytes, std::string name);

  /// Returns the names of the first kMaxNames members.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] bool has(std::string_view member) const;

  /// Opens a member. Rejects encrypted members, compression other than deflate, and sizes that the compressed
  /// bytes cannot produce; allocations of size() bytes are therefore bounded.
  Status select(const std::string& member);
  [[nodiscard]] std::int64_t size() const { return size_; }  ///< uncompressed bytes of the member
  /// Fills `out`; fails if the member ends early or is damaged.
  Status read(std::span<char> out);
  /// Closes a member and, if it was read completely, verifies its checksum.
  Status finish();

  [[nodiscard]] std::string where() const { return name_ + ":" + member_; }  ///< for messages

  static constexpr std::size_t kMaxNames = 64;

 private:
  static Result<ZipReader> open_stream(std::FILE* file, std::string name);
  struct Close {
    void operator()(void* archive) const;
  };
  std::unique_ptr<void, Close> archive_;
  std::int64_t archive_bytes_ = 0;
  std::string name_, member_;
  std::vector<std::string> names_;
  std::int64_t size_ = 0;
};

/// An archive under construction, deflated and without timestamps: the same members give the same bytes.
class ZipWriter {
 public:
  /// Creates the file; see AtomicFile::create.
  static Result<ZipWriter> create(const std::string& path, Placing placing);
  /// Starts a member of `bytes` bytes.
  Status add(const std::string& member, std::int64_t bytes);
  Status write(std::string_view bytes);
  /// Makes the file durable and visible.
  Status commit();

 private:
  ZipWriter() = default;
  Status finish_member();
  struct Close {
    void operator()(void* archive) const;
  };
  std::string path_;
  std::unique_ptr<AtomicFile> file_;
  std::unique_ptr<void, Close> archive_;
  bool in_member_ = false;
};

}  // namespace sptile::formats
