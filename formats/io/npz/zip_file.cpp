#include "formats/io/npz/zip_file.hpp"

#include <unistd.h>
#include <unzip.h>
#include <zip.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <utility>

#include "formats/core/quote.hpp"
#include "formats/io/files/system_error.hpp"

namespace sptile::formats {
namespace {

// minizip opens files by name; this callback returns a stream that is already open.
voidpf take_stream(voidpf stream, const void*, int) { return stream; }

zlib_filefunc64_def functions_of(std::FILE* stream) {
  zlib_filefunc64_def functions{};
  ::fill_fopen64_filefunc(&functions);
  functions.zopen64_file = take_stream;
  functions.opaque = stream;
  return functions;
}

constexpr uLong kEncrypted = 1;
constexpr std::int64_t kMaxRatio = 1032;  // maximum ratio of deflate: 258 bytes for two bits
constexpr std::size_t kMaxAtOnce = 1 << 30;

}  // namespace

void ZipReader::Close::operator()(void* archive) const { static_cast<void>(::unzClose(archive)); }

Result<ZipReader> ZipReader::open(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "rbe");
  if (file == nullptr) return system_failure(errno, "cannot open", path);
  return open_stream(file, path);
}

Result<ZipReader> ZipReader::open(int fd, std::string name) {
  std::FILE* const file = ::fdopen(fd, "rb");
  if (file != nullptr) return open_stream(file, std::move(name));
  const int failed = errno;
  ::close(fd);
  return system_failure(failed, "cannot read", std::move(name));
}

Result<ZipReader> ZipReader::from_memory(std::string_view bytes, std::string name) {
  std::FILE* const file =
      bytes.empty() ? nullptr : ::fmemopen(const_cast<char*>(bytes.data()), bytes.size(), "rb");
  if (file == nullptr) return fail(Errc::bad_input, "is empty", std::move(name));
  return open_stream(file, std::move(name));
}

// Takes ownership of the stream.
Result<ZipReader> ZipReader::open_stream(std::FILE* file, std::string name) {
  ZipReader zip;
  zip.name_ = std::move(name);
  if (::fseeko(file, 0, SEEK_END) == 0) zip.archive_bytes_ = ::ftello(file);
  zlib_filefunc64_def functions = functions_of(file);
  zip.archive_.reset(::unzOpen2_64("", &functions));  // closes the stream if it fails
  if (!zip.archive_)
    return fail(Errc::bad_input,
                "a truncated or damaged zip archive: it has no list of members; copy it again", zip.name_);
  std::array<char, 256> member{};
  for (int code = ::unzGoToFirstFile(zip.archive_.get()); code == UNZ_OK && zip.names_.size() < kMaxNames;
       code = ::unzGoToNextFile(zip.archive_.get())) {
    if (::unzGetCurrentFileInfo64(zip.archive_.get(), nullptr, member.data(), member.size() - 1, nullptr, 0,
                                  nullptr, 0) != UNZ_OK)
      return fail(Errc::bad_input, "the zip archive's list of members is damaged; copy it again", zip.name_);
    zip.names_.emplace_back(member.data());
  }
  return zip;
}

bool ZipReader::has(std::string_view member) const {
  return std::find(names_.begin(), names_.end(), member) != names_.end();
}

Status ZipReader::select(const std::string& member) {
  constexpr int kCaseMatters = 1;
  member_ = member;
  unz_file_info64 info{};
  if (::unzLocateFile(archive_.get(), member.c_str(), kCaseMatters) != UNZ_OK)
    return fail(Errc::bad_input, "the archive has no such member", where());
  if (::unzGetCurrentFileInfo64(archive_.get(), &info, nullptr, 0, nullptr, 0, nullptr, 0) != UNZ_OK)
    return fail(Errc::bad_input, "the zip archive is damaged here; copy it again", where());
  if ((info.flag & kEncrypted) != 0)
    return fail(Errc::unsupported, "is encrypted; unpack it with its password first", where());
  if (info.compression_method != 0 && info.compression_method != Z_DEFLATED)
    return fail(Errc::unsupported,
                "is compressed by method " + std::to_string(info.compression_method) +
                    " of zip; sptile reads stored (0) and deflated (8) members: pack it again",
                where());
  const auto stored = static_cast<std::int64_t>(info.compressed_size);
  size_ = static_cast<std::int64_t>(info.uncompressed_size);
  if (stored < 0 || stored > archive_bytes_ || size_ < 0 || size_ / kMaxRatio > stored)
    return fail(Errc::bad_input,
                std::to_string(stored) + " compressed bytes in an archive of " +
                    std::to_string(archive_bytes_) + " cannot hold the " + std::to_string(size_) +
                    " that are declared",
                where());
  if (::unzOpenCurrentFile(archive_.get()) != UNZ_OK)
    return fail(Errc::bad_input, "the zip archive is damaged here; copy it again", where());
  return {};
}

Status ZipReader::read(std::span<char> out) {
  while (!out.empty()) {
    const int count = ::unzReadCurrentFile(archive_.get(), out.data(),
                                           static_cast<unsigned>(std::min(out.size(), kMaxAtOnce)));
    if (count < 0) return fail(Errc::bad_input, "the compressed data is damaged; copy it again", where());
    if (count == 0)
      return fail(Errc::bad_input, "the member is too short; the archive may be truncated", where());
    out = out.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

Status ZipReader::finish() {
  if (::unzCloseCurrentFile(archive_.get()) == UNZ_CRCERROR)
    return fail(Errc::bad_input, "the checksum is wrong: the archive is damaged; copy it again", where());
  return {};
}

void ZipWriter::Close::operator()(void* archive) const { static_cast<void>(::zipClose(archive, nullptr)); }

Result<ZipWriter> ZipWriter::create(const std::string& path, Placing placing) {
  auto file = AtomicFile::create(path, placing);
  if (!file) return tl::unexpected(std::move(file.error()));
  ZipWriter zip;
  zip.path_ = path;
  zip.file_ = std::make_unique<AtomicFile>(std::move(*file));
  const int fd = ::dup(zip.file_->fd());
  std::FILE* const stream = fd < 0 ? nullptr : ::fdopen(fd, "r+b");
  if (stream == nullptr) return system_failure(errno, "cannot write", path);
  zlib_filefunc64_def functions = functions_of(stream);
  zip.archive_.reset(::zipOpen2_64("", APPEND_STATUS_CREATE, nullptr, &functions));
  if (!zip.archive_) return fail(Errc::io, "cannot start the zip archive", path);
  return zip;
}

Status ZipWriter::finish_member() {
  if (!std::exchange(in_member_, false) || ::zipCloseFileInZip(archive_.get()) == ZIP_OK) return {};
  return system_failure(errno, "cannot write", path_);
}

Status ZipWriter::add(const std::string& member, std::int64_t bytes) {
  constexpr uLong kFirstDay = (1 << 5 | 1) << 16;  // January 1, 1980, the earliest date in zip
  if (Status s = finish_member(); !s) return s;
  zip_fileinfo info{};
  info.dosDate = kFirstDay;
  const int large = bytes >= std::numeric_limits<std::int32_t>::max() ? 1 : 0;
  if (::zipOpenNewFileInZip64(archive_.get(), member.c_str(), &info, nullptr, 0, nullptr, 0, nullptr,
                              Z_DEFLATED, Z_DEFAULT_COMPRESSION, large) != ZIP_OK)
    return system_failure(errno, "cannot write", path_);
  in_member_ = true;
  return {};
}

Status ZipWriter::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = static_cast<unsigned>(std::min(bytes.size(), kMaxAtOnce));
    if (::zipWriteInFileInZip(archive_.get(), bytes.data(), count) != ZIP_OK)
      return system_failure(errno, "cannot write", path_);
    bytes.remove_prefix(count);
  }
  return {};
}

Status ZipWriter::commit() {
  if (Status s = finish_member(); !s) return s;
  if (::zipClose(archive_.release(), nullptr) != ZIP_OK) return system_failure(errno, "cannot write", path_);
  return file_->commit();
}

}  // namespace sptile::formats
