#include "runtime/plan/remembered.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "formats/core/file_descriptor.hpp"
#include "formats/layout/bundle_layout.hpp"
#include "runtime/choice/profiles.hpp"
#include "runtime/core/attributes.hpp"
#include "runtime/kernels/kernels.hpp"
#include "runtime/plan/kernel_choice.hpp"
#include "runtime/plan/product_plan.hpp"

namespace sptile::runtime {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;
constexpr std::size_t kDigits = 16;

/// Attributes of how plans are chosen, which do not change what is fastest.
constexpr std::string_view kOfChoices[] = {"choice", "budget", "replan"};

/// Returns the size of an open file; nullopt unless it is a regular file.
std::optional<std::size_t> bytes_of(const formats::FileDescriptor& file) {
  struct stat facts {};
  if (file.get() < 0 || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
  return static_cast<std::size_t>(facts.st_size);
}

/// Returns the directory, absolute; empty if there is none.
std::string cache_folder() {
  std::string folder = environment("SPTILE_CACHE");
  if (folder.empty()) folder = user_folder("XDG_CACHE_HOME", ".cache");
  return folder.starts_with('/') ? folder : std::string();
}

std::string digits_of(std::uint64_t key) {
  std::string digits(kDigits, '0');
  for (std::size_t i = 0; i < kDigits; ++i) digits[i] = "0123456789abcdef"[key >> (60 - 4 * i) & 15];
  return digits;
}

/// Removes and returns the text before a separator.
std::string_view take(std::string_view& text, char separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

/// Returns the key of a choice, see choice_place.
std::uint64_t choice_key(const Operation& op, std::span<const formats::FormatLayout* const> layouts,
                         const CostFeatures& features, const PlanOptions& options,
                         const ProfileDevice& device) {
  std::string text = device.name + '\n' + std::string(op.name) + '\n';
  for (const Kernel& kernel : kernels())
    if (kernel.op == &op && kernel.device == options.device) text += std::string(kernel.name) + '\n';
  for (const formats::FormatLayout* const layout : layouts) text += std::string(layout->name) + ',';
  const DenseTypes types = types_of(options);
  for (const std::int64_t number :
       {options.n, static_cast<std::int64_t>(types.operands), static_cast<std::int64_t>(types.result),
        options.device == Device::cpu ? std::int64_t{threads_of(options)} : 0})
    text += '\n' + std::to_string(number);
  for (const Attribute& attribute : attributes()) {
    if (attribute.plan.get == nullptr || std::ranges::count(kOfChoices, attribute.name) > 0) continue;
    const double value = attribute.plan.get(options);
    if (value != initial_value(attribute))
      text += '\n' + std::string(attribute.name) + ' ' + std::to_string(value);
  }
  text += '\n';
  std::array<char, sizeof(CostFeatures)> bytes{};
  std::memcpy(bytes.data(), features.data(), bytes.size());
  text.append(bytes.data(), bytes.size());
  return formats::bundle_hash(text.data(), text.size());
}

}  // namespace

ChoicePlace choice_place(const Operation& op, const HeldFormat& held,
                         std::span<const formats::FormatLayout* const> layouts, const PlanOptions& options) {
  const std::string folder = cache_folder();
  const auto device = check_options(options);
  if (folder.empty() || !device) return {};
  const auto list = predict_held(op, held, options, Detail::features);
  if (!list || !list->front().refused.empty()) return {};
  const ProfileDevice described = profile_device(options.device, *device);
  return {folder + "/choices-" + profile_file_name(described),
          choice_key(op, layouts, list->front().features, options, described)};
}

std::optional<RememberedChoice> recall(const ChoicePlace& place) {
  if (place.file.empty()) return std::nullopt;
  const formats::FileDescriptor opened(::open(place.file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  const auto bytes = bytes_of(opened);
  if (!bytes) return std::nullopt;
  std::string text(std::min(*bytes, kMaxFileBytes), '\0');
  const ssize_t got = ::read(opened.get(), text.data(), text.size());
  std::string_view rest(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  const std::string wanted = digits_of(place.key);
  std::optional<RememberedChoice> found;
  while (!rest.empty()) {
    std::string_view line = take(rest, '\n');
    if (take(line, '\t') != wanted) continue;
    const std::string_view format = take(line, '\t');
    found = RememberedChoice{std::string(format), std::string(line)};
  }
  return found;
}

void remember(const ChoicePlace& place, const RememberedChoice& choice) {
  const std::string& file = place.file;
  if (file.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(file).parent_path(), ignored);
  int flags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;
  {
    const formats::FileDescriptor old(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (bytes_of(old).value_or(0) > kMaxFileBytes) flags |= O_TRUNC;
  }
  const formats::FileDescriptor opened(::open(file.c_str(), flags, 0600));
  const auto bytes = bytes_of(opened);
  if (!bytes) return;
  char last = '\n';
  if (*bytes > 0 && ::pread(opened.get(), &last, 1, static_cast<off_t>(*bytes) - 1) != 1) return;
  // One write, so that lines of several processes do not mix. A line that was cut off is ended.
  const std::string line =
      (last == '\n' ? "" : "\n") + digits_of(place.key) + '\t' + choice.format + '\t' + choice.kernel + '\n';
  [[maybe_unused]] const ssize_t written = ::write(opened.get(), line.data(), line.size());
}

}  // namespace sptile::runtime
