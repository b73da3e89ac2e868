#include "formats/io/text/numbers.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "formats/core/value_loss.hpp"
#include "formats/core/value_types.hpp"

namespace sptile::formats {
namespace {

static_assert(std::endian::native == std::endian::little);

template <class T>
T load(const char* from, bool swapped) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, from, sizeof(T));
  if (swapped) std::reverse(std::begin(bytes), std::end(bytes));
  return std::bit_cast<T>(bytes);
}

template <class Stored, class Value>
std::int64_t convert(NumberType type, const char* from, std::int64_t count, void* to) {
  auto* values = static_cast<Value*>(to);
  std::int64_t changed = 0;
  for (std::int64_t i = 0; i < count; ++i, from += type.bytes) {
    const auto stored = load<Stored>(from, type.swapped);
    if constexpr (std::is_same_v<Stored, Value>)
      values[i] = stored;
    else
      values[i] = static_cast<Value>(stored);
    if constexpr (std::is_integral_v<Stored> && sizeof(Stored) == 8)
      changed += !is_exactly(values[i], stored);
  }
  return changed;
}

using Converter = std::int64_t (*)(NumberType, const char*, std::int64_t, void*);
struct ConverterRow {
  NumberKind kind;
  int bytes;
  Converter convert;
  DType value;
};
constexpr ConverterRow kConverters[] = {
    {NumberKind::boolean, 1, convert<std::uint8_t, double>, DType::f64},
    {NumberKind::integer, 1, convert<std::int8_t, double>, DType::f64},
    {NumberKind::integer, 2, convert<std::int16_t, double>, DType::f64},
    {NumberKind::integer, 4, convert<std::int32_t, double>, DType::f64},
    {NumberKind::integer, 8, convert<std::int64_t, double>, DType::f64},
    {NumberKind::natural, 1, convert<std::uint8_t, double>, DType::f64},
    {NumberKind::natural, 2, convert<std::uint16_t, double>, DType::f64},
    {NumberKind::natural, 4, convert<std::uint32_t, double>, DType::f64},
    {NumberKind::natural, 8, convert<std::uint64_t, double>, DType::f64},
    {NumberKind::real, 2, convert<Half, Half>, DType::f16},
    {NumberKind::real, 4, convert<float, float>, DType::f32},
    {NumberKind::real, 8, convert<double, double>, DType::f64},
    {NumberKind::complex, 8, convert<float, float>, DType::f32},
    {NumberKind::complex, 16, convert<double, double>, DType::f64},
};

const ConverterRow& row_of(NumberType type) {
  return *std::find_if(std::begin(kConverters), std::end(kConverters), [=](const ConverterRow& row) {
    return row.kind == type.kind && row.bytes == type.bytes;
  });
}

}  // namespace

DType value_type(NumberType type) { return row_of(type).value; }

std::int64_t to_values(NumberType type, const char* from, std::int64_t count, void* to) {
  return row_of(type).convert(type, from, count, to);
}

std::optional<std::int64_t> to_integer(NumberType type, const char* from) {
  const bool natural = type.kind != NumberKind::integer;
  switch (type.bytes) {
    case 1:
      return natural ? static_cast<std::uint8_t>(*from) : static_cast<std::int8_t>(*from);
    case 2:
      return natural ? load<std::uint16_t>(from, type.swapped) : load<std::int16_t>(from, type.swapped);
    case 4:
      return natural ? std::int64_t{load<std::uint32_t>(from, type.swapped)}
                     : std::int64_t{load<std::int32_t>(from, type.swapped)};
    default:
      break;
  }
  const auto whole = load<std::int64_t>(from, type.swapped);
  if (natural && whole < 0) return std::nullopt;
  return whole;
}

bool all_ones(ArrayView values) {
  return visit_value_type(values.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const auto all = values.as<T>();
    return std::all_of(all.begin(), all.end(), [](T x) { return widen(x) == 1; });
  });
}

}  // namespace sptile::formats
