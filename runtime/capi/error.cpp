#include "runtime/capi/error.hpp"

#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "formats/core/printable.hpp"

namespace sptile::runtime {
namespace {

constexpr std::size_t kMessageSize = 1024;

/// One buffer per thread that has had an error, freed with the thread. Not thread_local, which in a shared
/// library requires the dynamic loader or static TLS space, of which programs run short.
class Messages {
 public:
  Messages() : usable_(::pthread_key_create(&key_, std::free) == 0) {}

  /// Returns the thread's buffer, allocated if missing; null if memory is insufficient.
  char* write() const {
    if (!usable_) return nullptr;
    if (void* buffer = ::pthread_getspecific(key_)) return static_cast<char*>(buffer);
    void* buffer = std::calloc(kMessageSize, 1);
    if (buffer != nullptr && ::pthread_setspecific(key_, buffer) != 0) {
      std::free(buffer);
      buffer = nullptr;
    }
    return static_cast<char*>(buffer);
  }

  [[nodiscard]] const char* read() const {
    const void* buffer = usable_ ? ::pthread_getspecific(key_) : nullptr;
    return buffer != nullptr ? static_cast<const char*>(buffer) : "";
  }

 private:
  ::pthread_key_t key_{};
  bool usable_;
};

/// Writes a message to a buffer of kMessageSize bytes, truncated between characters.
class Line {
 public:
  explicit Line(char* buffer) : buffer_(buffer) { *buffer_ = '\0'; }

  void add(std::string_view text) {
    show(text, [this](std::string_view piece) { append(piece); });
  }

 private:
  void append(std::string_view piece) {
    std::size_t length = std::min(piece.size(), kMessageSize - 1 - length_);
    if (length < piece.size()) {
      while (length > 0 && (static_cast<unsigned char>(piece[length]) & 0xc0) == 0x80) --length;
    }
    std::memcpy(buffer_ + length_, piece.data(), length);
    length_ += length;
    buffer_[length_] = '\0';
  }

  char* buffer_;
  std::size_t length_ = 0;
};

const Messages& messages() {
  static const Messages all;
  return all;
}

}  // namespace

sptile_status report(Errc code, std::string_view message, std::string_view rest) noexcept {
  if (char* buffer = messages().write()) {
    Line line(buffer);
    line.add(message);
    line.add(rest);
  }
  return static_cast<sptile_status>(code);
}

sptile_status report(const Error& error) noexcept {
  if (char* buffer = messages().write()) {
    Line line(buffer);
    line.add(error.where);
    line.add(error.where.empty() ? "" : ": ");
    line.add(error.message);
  }
  return static_cast<sptile_status>(error.code);
}

const char* reported() noexcept { return messages().read(); }

}  // namespace sptile::runtime

const char* sptile_last_error(void) { return sptile::runtime::reported(); }
