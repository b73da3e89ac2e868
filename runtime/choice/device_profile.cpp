#include "runtime/choice/device_profile.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <memory>

namespace sptile::runtime {
namespace {

constexpr std::string_view kMagic = "sptile-profile";
constexpr int kVersion = 1;
constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxNumbers = 4096;
constexpr std::string_view kBlank = " \t\r";

struct KindName {
  std::string_view name;
  Device kind;
};
constexpr KindName kKinds[] = {{"cpu", Device::cpu}, {"cuda", Device::cuda}};

/// Removes and returns the next word of a line; empty at its end.
std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kBlank));
  line.remove_prefix(word.size());
  return word;
}

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
  return text.substr(0, text.find_last_not_of(kBlank) + 1);
}

template <class T>
std::optional<T> parse_number(std::string_view word) {
  T value{};
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (word.empty() || code != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

/// Returns a word of the file, quoted and printable.
std::string quoted(std::string_view word) {
  std::string text = "'";
  for (const char c : word.substr(0, 40)) text += c >= 0x20 && c < 0x7f ? c : '?';
  return text + (word.size() > 40 ? "...'" : "'");
}

bool is_name(std::string_view word) {
  return !word.empty() && word.size() <= 64 && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

bool is_precision(std::string_view word) {
  return word == kAnyPrecision ||
         std::find(std::begin(kPrecisionNames), std::end(kPrecisionNames), word) != std::end(kPrecisionNames);
}

Status read_device(std::string_view line, ProfileDevice& device) {
  const std::string_view kind = take_word(line), capability = take_word(line), name = trimmed(line);
  const auto* const row =
      std::find_if(std::begin(kKinds), std::end(kKinds), [&](const KindName& k) { return k.name == kind; });
  if (row == std::end(kKinds))
    return fail(Errc::bad_input, "no device " + quoted(kind) + "; expected cpu or cuda");
  const std::optional<int> number = parse_number<int>(capability);
  if (!number || *number < 0 || *number > 10000)
    return fail(Errc::bad_input,
                quoted(capability) + " is not a compute capability such as 90 (0 for a CPU)");
  if (name.empty() || name.size() > 256)
    return fail(Errc::bad_input, "the device needs a name of 1 to 256 characters");
  device = {row->kind, *number, std::string(name)};
  return {};
}

Status read_number(std::string_view line, std::vector<ProfileNumber>& numbers) {
  const std::string_view kernel = take_word(line), precision = take_word(line), name = take_word(line),
                         value = take_word(line);
  if (!is_name(kernel) || !is_name(name))
    return fail(Errc::bad_input, quoted(is_name(kernel) ? name : kernel) +
                                     " is not a name; expected: number " + "KERNEL PRECISION NAME VALUE");
  if (!is_precision(precision))
    return fail(Errc::bad_input,
                "no precision " + quoted(precision) + "; expected fp32, tf32, fp16, bf16, fp64 or any");
  const std::optional<double> number = parse_number<double>(value);
  if (!number || !std::isfinite(*number) || !trimmed(line).empty())
    return fail(Errc::bad_input, quoted(trimmed(value)) + " is not a finite number");
  if (is_feature(name) && *number < 0)
    return fail(Errc::bad_input,
                std::string(name) + " = " + std::string(value) + "; costs must not be negative");
  for (const ProfileNumber& known : numbers)
    if (known.kernel == kernel && known.precision == precision && known.name == name)
      return fail(Errc::bad_input, std::string(name) + " of " + std::string(kernel) + ", " +
                                       std::string(precision) + " occurs twice");
  if (numbers.size() == kMaxNumbers)
    return fail(Errc::bad_input, "more than " + std::to_string(kMaxNumbers) +
                                     " numbers; expected a profile written by 'sptile calibrate'");
  numbers.push_back({std::string(kernel), std::string(precision), std::string(name), *number});
  return {};
}

/// Parses one line after the first.
Status read_line(std::string_view line, DeviceProfile& profile) {
  const std::string_view key = take_word(line);
  if (key.empty() || key.front() == '#') return {};
  if (key == "device") {
    if (!profile.device.name.empty()) return fail(Errc::bad_input, "a second device; a profile has only one");
    return read_device(line, profile.device);
  }
  if (key == "number") return read_number(line, profile.numbers);
  return fail(Errc::bad_input, "no key " + quoted(key) + "; expected device or number");
}

Status read_first_line(std::string_view line) {
  if (take_word(line) != kMagic)
    return fail(Errc::bad_input, "not a profile; expected the first line '" + std::string(kMagic) + " 1'");
  const std::string_view word = take_word(line);
  const std::optional<int> version = parse_number<int>(word);
  if (!version || *version < 1) return fail(Errc::bad_input, quoted(word) + " is not a version");
  if (*version > kVersion)
    return fail(Errc::unsupported, "version " + std::to_string(*version) + "; this sptile reads version " +
                                       std::to_string(kVersion));
  return {};
}

std::string shortest(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// Opens a regular file; reading another kind of file could block forever.
Result<File> open_regular(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  File file(fd < 0 ? nullptr : ::fdopen(fd, "rb"), std::fclose);
  if (file == nullptr) {
    if (fd >= 0) ::close(fd);
    return fail(Errc::io, "the profile cannot be opened", path);
  }
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) return fail(Errc::io, "the profile cannot be examined", path);
  if (!S_ISREG(facts.st_mode))
    return fail(Errc::bad_input, "is not a regular file; expected a profile written by 'sptile calibrate'",
                path);
  return file;
}

}  // namespace

bool is_feature(std::string_view name) {
  return std::any_of(kFeatures.begin(), kFeatures.end(),
                     [&](const FeatureInfo& row) { return row.name == name; });
}

std::optional<double> DeviceProfile::find(std::string_view kernel, std::string_view precision,
                                          std::string_view name) const {
  std::optional<double> of_any;
  for (const ProfileNumber& number : numbers) {
    if (number.kernel != kernel || number.name != name) continue;
    if (number.precision == precision) return number.value;
    if (number.precision == kAnyPrecision) of_any = number.value;
  }
  return of_any;
}

bool DeviceProfile::has_times(std::string_view kernel) const {
  return !known_precision(kernel, kAnyPrecision).empty();
}

bool DeviceProfile::has_times(std::string_view kernel, std::string_view precision) const {
  return known_precision(kernel, precision) == precision;
}

std::string_view DeviceProfile::known_precision(std::string_view kernel, std::string_view precision) const {
  std::string_view other;
  for (const ProfileNumber& number : numbers) {
    if (number.kernel != kernel || !is_feature(number.name)) continue;
    if (number.precision == precision || number.precision == kAnyPrecision) return precision;
    if (other.empty()) other = number.precision;
  }
  return other;
}

std::optional<double> DeviceProfile::predict(std::string_view kernel, std::string_view precision,
                                             const CostFeatures& features) const {
  const std::string_view known = known_precision(kernel, precision);
  if (known.empty()) return std::nullopt;
  double us = 0;
  for (std::size_t i = 0; i < features.size(); ++i)
    us += find(kernel, known, kFeatures[i].name).value_or(0) * features[i];
  return us;
}

Result<DeviceProfile> parse_profile(std::string_view text, const std::string& where) {
  DeviceProfile profile;
  profile.source = where;
  std::size_t number = 0;
  while (!text.empty() || number == 0) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    ++number;
    const Status s = number == 1 ? read_first_line(line) : read_line(line, profile);
    if (!s) return fail(s.error().code, s.error().message, where + ":" + std::to_string(number));
  }
  if (profile.device.name.empty())
    return fail(Errc::bad_input, "a profile needs a line 'device KIND CAPABILITY NAME'", where);
  return profile;
}

std::string format_profile(const DeviceProfile& profile, std::span<const std::string> comments) {
  std::string text = std::string(kMagic) + '\t' + std::to_string(kVersion) + '\n';
  for (const std::string& comment : comments) text += "# " + comment + '\n';
  const auto* const kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                        [&](const KindName& k) { return k.kind == profile.device.kind; });
  text += "device\t" + std::string(kind->name) + '\t' + std::to_string(profile.device.capability) + '\t' +
          profile.device.name + '\n';
  for (const ProfileNumber& n : profile.numbers)
    text += "number\t" + n.kernel + '\t' + n.precision + '\t' + n.name + '\t' + shortest(n.value) + '\n';
  return text;
}

Result<DeviceProfile> read_profile(const std::string& path) {
  const Result<File> file = open_regular(path);
  if (!file) return tl::unexpected(file.error());
  std::string text(kMaxBytes + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file->get()));
  if (std::ferror(file->get()) != 0) return fail(Errc::io, "the profile cannot be read", path);
  if (text.size() > kMaxBytes)
    return fail(Errc::bad_input, "larger than 1 MiB; expected a profile written by 'sptile calibrate'", path);
  return parse_profile(text, path);
}

}  // namespace sptile::runtime
