// A stored matrix with arrays given by hand, which tests check and invalidate.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

#include "formats/convert/converters.hpp"

namespace sptile::tests {

class Instance {
 public:
  Instance(const formats::FormatLayout& layout, std::int64_t rows, std::int64_t cols, std::int64_t nnz) {
    data_.layout = &layout;
    data_.rows = rows;
    data_.cols = cols;
    data_.nnz = nnz;
    data_.arrays.resize(layout.arrays.size());
  }

  /// Sets the elements of an array. Returns the instance for chaining.
  template <class T>
  Instance& set(std::string_view name, std::initializer_list<T> elements) {
    formats::Buffer<T> buffer(static_cast<std::int64_t>(elements.size()));
    std::copy(elements.begin(), elements.end(), buffer.begin());
    array(name) = formats::Array(std::move(buffer));
    return *this;
  }
  Instance& set_i32(std::string_view name, std::initializer_list<std::int32_t> x) { return set(name, x); }
  Instance& set_u32(std::string_view name, std::initializer_list<std::uint32_t> x) { return set(name, x); }
  Instance& set_i64(std::string_view name, std::initializer_list<std::int64_t> x) { return set(name, x); }
  Instance& set_u64(std::string_view name, std::initializer_list<std::uint64_t> x) { return set(name, x); }
  Instance& set_u8(std::string_view name, std::initializer_list<std::uint8_t> x) { return set(name, x); }
  Instance& set_f32(std::string_view name, std::initializer_list<float> x) { return set(name, x); }
  Instance& remove(std::string_view name) {
    array(name) = {};
    return *this;
  }

  formats::FormatData& data() { return data_; }
  [[nodiscard]] formats::FormatView view() const { return data_.view(); }

 private:
  formats::Array& array(std::string_view name) {
    for (std::size_t i = 0; i < data_.arrays.size(); ++i)
      if (data_.layout->arrays[i].name == name) return data_.arrays[i];
    FAIL("no array " << name);
    return data_.arrays[0];
  }

  formats::FormatData data_;
};

/// Checks that the instance is refused with exactly this message, as bad input.
inline void refused(const Instance& broken, std::string_view message) {
  CAPTURE(message);
  const Status status = formats::check(broken.view());
  REQUIRE_FALSE(status.has_value());
  CHECK(status.error().message == message);
  CHECK(status.error().code == Errc::bad_input);
}

inline void accepted(const Instance& good) {
  const Status status = formats::check(good.view());
  CHECK_MESSAGE(status.has_value(), status.error().text());
}

}  // namespace sptile::tests
