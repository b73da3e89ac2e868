#include "formats/io/hdf5/binsparse_descriptor.hpp"

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>

namespace sptile::formats {
namespace {

using Json = nlohmann::json;

/// A value reported by the JSON parser.
struct Token {
  enum class Kind { text, natural, yes, other } kind = Kind::other;
  std::string text = {};
  std::uint64_t number = 0;
};

class DescriptorParser : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return take({}); }
  bool boolean(bool value) override { return take({value ? Token::Kind::yes : Token::Kind::other}); }
  bool number_integer(number_integer_t) override { return take({}); }
  bool number_unsigned(number_unsigned_t value) override { return take({Token::Kind::natural, {}, value}); }
  bool number_float(number_float_t, const string_t&) override { return take({}); }
  bool string(string_t& value) override { return take({Token::Kind::text, std::move(value)}); }
  bool binary(binary_t&) override { return false; }
  bool key(string_t& value) override {
    path_.back().key = std::move(value);
    return true;
  }
  bool start_object(std::size_t) override {
    if (is_at({"binsparse"})) found_ = true;
    return enter(false);
  }
  bool start_array(std::size_t) override {
    if (is_at({"binsparse", "shape"})) shape_.emplace();
    return enter(true);
  }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

  std::optional<BinsparseDescriptor> finish() {
    if (!found_) return std::nullopt;
    if (shape_ && shape_->size() == 2 && shape_is_good_) descriptor_.shape = std::move(*shape_);
    return std::move(descriptor_);
  }

 private:
  /// An array or object that contains the parser's position.
  struct Level {
    bool is_array;
    std::string key = {};
  };
  static constexpr std::size_t kDeepest = 64, kMaxOfShape = 3;

  [[nodiscard]] bool is_at(std::initializer_list<std::string_view> keys) const {
    return std::equal(
        path_.begin(), path_.end(), keys.begin(), keys.end(),
        [](const Level& level, std::string_view key) { return !level.is_array && level.key == key; });
  }

  [[nodiscard]] bool is_in_shape() const {
    return path_.size() == 3 && path_[0].key == "binsparse" && path_[1].key == "shape" && path_[2].is_array;
  }

  bool enter(bool is_array) {
    take({});
    path_.push_back({is_array});
    return path_.size() <= kDeepest;
  }

  bool leave() {
    path_.pop_back();
    return true;
  }

  bool take(Token value) {
    using Kind = Token::Kind;
    if (is_in_shape() && shape_) take_extent(value);
    if (is_at({"binsparse", "version"})) descriptor_.version = std::move(value.text);
    if (is_at({"binsparse", "format"}))
      descriptor_.format = value.kind == Kind::text ? std::move(value.text) : "custom";
    if (is_at({"binsparse", "structure"})) descriptor_.structure = std::move(value.text);
    if (is_at({"binsparse", "fill"})) descriptor_.fill = value.kind == Kind::yes;
    if (is_at({"binsparse", "data_types", "values"})) descriptor_.values = std::move(value.text);
    if (is_at({"binsparse", "number_of_stored_values"}))
      descriptor_.stored_values =
          value.kind == Kind::natural
              ? static_cast<std::int64_t>(std::min<std::uint64_t>(value.number, INT64_MAX))
              : -1;
    return true;
  }

  void take_extent(const Token& value) {
    shape_is_good_ = (shape_->empty() || shape_is_good_) && value.kind == Token::Kind::natural;
    if (shape_->size() < kMaxOfShape) shape_->push_back(static_cast<std::int64_t>(value.number));
  }

  std::vector<Level> path_;
  BinsparseDescriptor descriptor_;
  std::optional<std::vector<std::int64_t>> shape_;
  bool shape_is_good_ = false, found_ = false;
};

}  // namespace

std::optional<BinsparseDescriptor> parse_binsparse_descriptor(std::string_view json) {
  DescriptorParser parser;
  return Json::sax_parse(json, &parser) ? parser.finish() : std::nullopt;
}

}  // namespace sptile::formats
