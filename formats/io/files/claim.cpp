#include "formats/io/files/claim.hpp"

#include <limits>
#include <string>
#include <utility>

#include "formats/io/files/available_memory.hpp"

namespace sptile::formats {
namespace {

/// Thrown before an allocation that would exceed the free memory.
class TooLittleMemory final : public OutOfMemory {
 public:
  TooLittleMemory(std::uint64_t bytes, std::string text) : OutOfMemory(bytes), text_(std::move(text)) {}
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

}  // namespace

void claim_memory(std::int64_t count, std::int64_t bytes_each, std::string_view what) {
  constexpr std::int64_t kFew = 1 << 20;
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(count, bytes_each, &bytes)) bytes = std::numeric_limits<std::int64_t>::max();
  if (bytes < kFew) return;
  if (const Status s = check_memory(std::string(what), bytes, available_memory()); !s)
    throw TooLittleMemory(static_cast<std::uint64_t>(bytes), s.error().message);
}

}  // namespace sptile::formats
