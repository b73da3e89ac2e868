#include "runtime/capi/error.hpp"

#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace sptile::runtime {
namespace {

constexpr std::size_t kMessageSize = 1024;

/// One buffer per thread that ever failed, freed with the thread. Not thread_local: in a shared library that
/// would make the dynamic loader a dependency of its own, or take static TLS space that programs run short
/// of.
class Messages {
 public:
  Messages() : usable_(::pthread_key_create(&key_, std::free) == 0) {}

  /// The thread's buffer, made when missing; null when there is no memory.
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

const Messages& messages() {
  static const Messages all;
  return all;
}

}  // namespace

sptile_status report(Errc code, std::string_view message) noexcept {
  if (char* buffer = messages().write()) {
    const std::size_t length = std::min(message.size(), kMessageSize - 1);
    std::memcpy(buffer, message.data(), length);
    buffer[length] = '\0';
  }
  return static_cast<sptile_status>(code);
}

const char* reported() noexcept { return messages().read(); }

}  // namespace sptile::runtime

const char* sptile_last_error(void) { return sptile::runtime::reported(); }
