#include "tools/partition/description.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "formats/io/files/system_error.hpp"
#include "formats/io/stream/input_bytes.hpp"
#include "reorder/partition/division.hpp"
#include "tools/partition/limited_json.hpp"
#include "tools/partition/names.hpp"
#include "tools/pipeline/json_text.hpp"

namespace sptile::tools {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::int64_t kSchema = 1;
constexpr std::int64_t kMaxBytes = 64 << 20;
// Depth, events and keys of the object: a list of objects with ten fields each.
constexpr JsonLimits kLimits{3, 256 + 32 * std::int64_t{reorder::kMaxParts}, 64};

struct CountField {
  const char* name;
  std::int64_t PartCounts::*place;
};
constexpr CountField kCountFields[] = {{"rows", &PartCounts::rows},
                                       {"local_entries", &PartCounts::local_entries},
                                       {"halo_entries", &PartCounts::halo_entries},
                                       {"received", &PartCounts::received},
                                       {"sent", &PartCounts::sent},
                                       {"senders", &PartCounts::senders},
                                       {"receivers", &PartCounts::receivers}};

std::string_view type_label(DType dtype) { return dtype == DType::none ? "pattern" : name_of(dtype); }

// Reads fields in order and keeps the first error.
class Fields {
 public:
  explicit Fields(const OrderedJson& json) : json_(json) {}

  std::int64_t number(const char* name) {
    const OrderedJson* const field = find(name);
    if (field != nullptr && field->is_number_integer() && *field >= 0 && *field <= kMaxNumber)
      return field->get<std::int64_t>();
    complain(name, "an integer");
    return 0;
  }
  std::string text(const char* name) {
    const OrderedJson* const field = find(name);
    if (field != nullptr && field->is_string()) return field->get<std::string>();
    complain(name, "a text");
    return {};
  }
  bool flag(const char* name) {
    const OrderedJson* const field = find(name);
    if (field != nullptr && field->is_boolean()) return field->get<bool>();
    complain(name, "true or false");
    return false;
  }
  std::string hex(const char* name) {
    std::string digits = text(name);
    if (digits.size() != 16 || digits.find_first_not_of("0123456789abcdef") != std::string::npos)
      complain(name, "16 hexadecimal digits");
    return digits;
  }
  void complain(const char* name, const char* expected) {
    if (complaint_.empty()) complaint_ = fmt::format("\"{}\" is not {}", name, expected);
  }
  [[nodiscard]] const std::string& complaint() const { return complaint_; }

 private:
  static constexpr std::int64_t kMaxNumber = std::int64_t{1} << 60;

  [[nodiscard]] const OrderedJson* find(const char* name) const {
    const auto at = json_.find(name);
    return at == json_.end() ? nullptr : &*at;
  }
  const OrderedJson& json_;
  std::string complaint_;
};

DType type_of(Fields& fields) {
  const std::string label = fields.text("dtype");
  for (const DType dtype : {DType::none, DType::f32, DType::f64})
    if (label == type_label(dtype)) return dtype;
  fields.complain("dtype", "f32, f64 or pattern");
  return DType::none;
}

Status take_part(const OrderedJson& json, PartitionDescription& description) {
  const std::size_t rank = description.parts.size();
  Fields fields(json);
  PartCounts counts;
  for (const CountField& field : kCountFields) counts.*field.place = fields.number(field.name);
  if (fields.text("file") != part_name(static_cast<std::int64_t>(rank)))
    fields.complain("file", "the name of the part");
  description.file_bytes.push_back(static_cast<std::uint64_t>(fields.number("bytes")));
  description.parts.push_back(counts);
  if (fields.complaint().empty()) return {};
  return fail(Errc::bad_input, fmt::format("parts[{}]: {}", rank, fields.complaint()));
}

Result<PartitionDescription> from_json(const OrderedJson& json) {
  if (!json.is_object()) return fail(Errc::bad_input, "is not a JSON object");
  Fields fields(json);
  if (const std::int64_t schema = fields.number("schema_version");
      fields.complaint().empty() && schema != kSchema)
    return fail(Errc::unsupported,
                fmt::format("has schema version {}; this sptile reads {}", schema, kSchema));
  PartitionDescription description;
  description.id = fields.hex("id");
  description.content = fields.hex("content");
  description.rows = fields.number("rows");
  description.entries = fields.number("entries");
  description.dtype = type_of(fields);
  description.symmetric = fields.flag("symmetric");
  description.method = fields.text("method");
  description.reorder = fields.text("reorder");
  description.source = fields.text("source");
  description.seed = static_cast<std::uint64_t>(fields.number("seed"));
  const auto parts = json.find("parts");
  if (parts == json.end() || !parts->is_array() || parts->empty() || parts->size() > reorder::kMaxParts)
    fields.complain("parts", "a list of parts");
  if (!fields.complaint().empty()) return fail(Errc::bad_input, fields.complaint());
  for (const OrderedJson& part : *parts)
    if (Status s = part.is_object() ? take_part(part, description)
                                    : fail(Errc::bad_input, "\"parts\" is not a list of parts");
        !s)
      return tl::unexpected(std::move(s.error()));
  return description;
}

Result<std::string> read_text(const std::string& path) {
  auto input = formats::InputBytes::open(path);
  struct stat status {};
  if (!input && ::stat(path.c_str(), &status) != 0)
    return formats::system_failure(errno, "cannot open; expected a partition directory", path);
  if (!input && !S_ISDIR(status.st_mode)) return tl::unexpected(std::move(input.error()));
  if (!input || !input->is_file() || *input->size() > kMaxBytes)
    return fail(Errc::bad_input, "is not written by sptile; partition the matrix again", path);
  std::string text(static_cast<std::size_t>(*input->size()), '\0');
  const auto count = input->read(text);
  if (!count) return tl::unexpected(count.error());
  text.resize(static_cast<std::size_t>(*count));
  return text;
}

}  // namespace

std::string hex_digits(std::uint64_t number) { return fmt::format("{:016x}", number); }

std::string description_text(const PartitionDescription& description) {
  OrderedJson json = {{"schema_version", kSchema},
                      {"id", description.id},
                      {"content", description.content},
                      {"rows", description.rows},
                      {"entries", description.entries},
                      {"dtype", type_label(description.dtype)},
                      {"symmetric", description.symmetric},
                      {"method", description.method},
                      {"reorder", description.reorder},
                      {"source", description.source},
                      {"seed", description.seed}};
  json["parts"] = OrderedJson::array();
  for (std::size_t rank = 0; rank < description.parts.size(); ++rank) {
    OrderedJson part = {{"file", part_name(static_cast<std::int64_t>(rank))}};
    for (const CountField& field : kCountFields) part[field.name] = description.parts[rank].*field.place;
    part["bytes"] = description.file_bytes[rank];
    json["parts"].push_back(std::move(part));
  }
  return json_text(json, 1) + "\n";
}

Result<PartitionDescription> read_description(const std::string& folder) {
  const std::string path = folder + "/" + std::string(kDescriptionName);
  const auto text = read_text(path);
  if (!text) return tl::unexpected(text.error());
  auto description = from_json(parse_json(*text, kLimits).value_or(OrderedJson()));  // null is not an object
  if (!description)
    return fail(description.error().code, description.error().message + "; partition the matrix again", path);
  return description;
}

}  // namespace sptile::tools
