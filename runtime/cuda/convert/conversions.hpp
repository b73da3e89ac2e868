// The table of conversions on the device, for whatever runs their steps.
#pragma once

#include <limits>
#include <string>
#include <utility>

#include "runtime/cuda/convert/condensed.hpp"
#include "runtime/cuda/convert/csr_check.hpp"
#include "runtime/cuda/convert/gather_rows.hpp"
#include "runtime/cuda/convert/libra.hpp"
#include "runtime/cuda/convert/rs_tile.hpp"
#include "runtime/cuda/convert/tall.hpp"

namespace sptile::runtime::cuda {

template <class Run>
Result<DeviceFormat> csr_on(Run& run, const DeviceCsr& csr) {
  using A = formats::CsrArray;
  auto format = make_format(run, formats::kCsrLayout, csr, {csr.rows + 1, csr.nnz, csr.nnz});
  if (!format) return format;
  const auto bytes = [&](A array) { return static_cast<std::size_t>(format->view.array(array).bytes()); };
  run.copy(array_of<void>(*format, A::row_ptr), csr.row_ptr, bytes(A::row_ptr));
  run.copy(array_of<void>(*format, A::col_idx), csr.col_idx, bytes(A::col_idx));
  run.copy(array_of<void>(*format, A::values), csr.values, bytes(A::values));
  return run.finish(std::move(*format));
}

template <class Run>
struct DeviceConversion {
  const formats::FormatLayout* layout;
  Result<DeviceFormat> (*convert)(Run& run, const DeviceCsr& csr, const ConvertParameters& parameters);
};

template <class Run, Result<DeviceFormat> (*convert)(Run&, const DeviceCsr&)>
Result<DeviceFormat> without_parameters(Run& run, const DeviceCsr& csr, const ConvertParameters&) {
  return convert(run, csr);
}

template <class Run>
Result<DeviceFormat> libra_spmm_with(Run& run, const DeviceCsr& csr, const ConvertParameters& parameters) {
  return libra_on(run, csr, formats::kLibraSpmmLayout,
                  {parameters.parameter.value_or(formats::kLibraThreshold),
                   parameters.block_columns.value_or(formats::libra_block_columns(csr.value_dtype))});
}

template <class Run>
Result<DeviceFormat> libra_sddmm_with(Run& run, const DeviceCsr& csr, const ConvertParameters& parameters) {
  return libra_on(run, csr, formats::kLibraSddmmLayout,
                  {parameters.parameter.value_or(formats::kLibraSddmmThreshold),
                   parameters.block_columns.value_or(formats::kLibraSddmmBlockColumns)});
}

template <class Run>
inline constexpr DeviceConversion<Run> kDeviceConversions[] = {
    {&formats::kCsrLayout, without_parameters<Run, csr_on<Run>>},
    {&formats::kMeTcfLayout, without_parameters<Run, me_tcf_on<Run>>},
    {&formats::kBitTcfLayout, without_parameters<Run, bittcf_on<Run>>},
    {&formats::kBmatLayout, without_parameters<Run, bmat_on<Run>>},
    {&formats::kRsTileLayout, without_parameters<Run, rs_tile_on<Run>>},
    {&formats::kTallLayout, without_parameters<Run, tall_on<Run>>},
    {&formats::kLibraSpmmLayout, libra_spmm_with<Run>},
    {&formats::kLibraSddmmLayout, libra_sddmm_with<Run>},
};

struct ReorderedRoom {
  std::int64_t* row_ptr = nullptr;
  std::int32_t* col_idx = nullptr;
  std::uint32_t* from = nullptr;
  std::byte* values = nullptr;

  void place(Arena& arena, std::int64_t rows, std::int64_t entries, std::int64_t value_bytes) {
    arena.take(row_ptr, rows + 1);
    arena.take(col_idx, entries);
    arena.take(from, entries);
    arena.take(values, value_bytes);
  }
};

/// Puts the rows of a good matrix in their order.
template <class Run>
Result<DeviceCsr> reorder_on(Run& run, const DeviceCsr& csr, Room<ReorderedRoom>& room) {
  const auto width = static_cast<std::int64_t>(size_of(csr.value_dtype));
  if (Status s = room.make(run, csr.rows, csr.nnz, csr.nnz * width); !s) return tl::unexpected(s.error());
  const OrderedRows order{csr.row_order};
  number_rows(run, csr, order, csr.rows, room.row_ptr);
  run.each(csr.nnz, GatherColumns<OrderedRows>{csr.row_ptr, room.row_ptr, csr.col_idx, order, csr.rows,
                                               room.col_idx, room.from});
  visit_value_word(csr.value_dtype, [&](auto word) {
    using Word = decltype(word);
    run.each(csr.nnz, GatherValues<Word>{room.from, static_cast<const Word*>(csr.values),
                                         reinterpret_cast<Word*>(room.values)});
  });
  DeviceCsr result = csr;
  result.row_ptr = room.row_ptr;
  result.col_idx = room.col_idx;
  result.values = room.values;
  result.row_order = nullptr;
  return result;
}

/// Errc::usage and Errc::unsupported for what needs no look at the matrix.
inline Status check_request(const formats::FormatLayout& layout, const DeviceCsr& csr,
                            const ConvertParameters& parameters) {
  const std::string name(layout.name);
  if (parameters.parameter && (layout.parameter == nullptr || !layout.parameter->on_device))
    return fail(Errc::usage, name + ": a conversion on a device takes no number; leave out " +
                                 std::to_string(*parameters.parameter) + ", or convert on the CPU");
  if (csr.rows < 0 || csr.cols < 0 || csr.nnz < 0 || csr.rows > formats::kMaxId || csr.cols > formats::kMaxId)
    return fail(Errc::usage, "csr: " + std::to_string(csr.rows) + " rows, " + std::to_string(csr.cols) +
                                 " columns, " + std::to_string(csr.nnz) +
                                 " entries; rows and columns are 0 to 2147483647, entries not negative");
  if (csr.row_ptr == nullptr || (csr.nnz > 0 && csr.col_idx == nullptr))
    return fail(Errc::usage, "csr: row_ptr or col_idx is null");
  if (csr.nnz > 0 && csr.value_dtype != DType::none && csr.values == nullptr)
    return fail(Errc::usage, "csr: values is null; a pattern has the value type none");
  if (csr.value_dtype != DType::none && size_of(csr.value_dtype) < 2)
    return fail(Errc::usage, "csr: values of type " + std::string(name_of(csr.value_dtype)) +
                                 "; expected elements of 2, 4 or 8 bytes");
  if (csr.nnz > std::numeric_limits<std::uint32_t>::max())
    return fail(Errc::unsupported, name +
                                       ": on a device at most 4294967295 entries are converted, but the "
                                       "matrix has " +
                                       std::to_string(csr.nnz) + "; convert on the CPU");
  return {};
}

/// Where each entry stood: in a reordered matrix at from[i], else where it stands.
struct WritePositions {
  const std::uint32_t* from;
  std::int64_t* to;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const { to[i] = from == nullptr ? i : from[i]; }
};

struct PositionsRoom {
  std::int64_t* positions = nullptr;

  void place(Arena& arena, std::int64_t entries) { arena.take(positions, entries); }
};

/// Gives a format its value_source: positions, moved like values. from: see WritePositions.
template <class Run>
Status add_source(Run& run, const DeviceConversion<Run>& conversion, DeviceCsr csr, const std::uint32_t* from,
                  const ConvertParameters& parameters, DeviceFormat& format) {
  Room<PositionsRoom> room;
  if (Status s = room.make(run, csr.nnz); !s) return s;
  auto source = run.allocate(static_cast<std::size_t>(csr.nnz) * sizeof(std::int64_t), "value_source");
  if (!source) return tl::unexpected(source.error());
  run.each(csr.nnz, WritePositions{from, room.positions});
  ConvertParameters same = parameters;
  for (const auto& [name, value] : format.parameters)  // which follow the type of the values
    if (name == "block_columns") same.block_columns = static_cast<int>(std::get<std::int64_t>(value));
  csr.values = room.positions;
  csr.value_dtype = DType::i64;
  const auto moved = conversion.convert(run, csr, same);
  if (!moved) return tl::unexpected(moved.error());
  auto* to = reinterpret_cast<std::int64_t*>(source->get());
  for (std::size_t i = 0; i < moved->view.layout->arrays.size(); ++i) {
    if (!moved->view.layout->arrays[i].holds_values) continue;
    const ArrayView& part = moved->view.arrays[i];
    run.copy(to, part.data, static_cast<std::size_t>(part.bytes()));
    to += part.size;
  }
  run.wait();
  format.value_source = ArrayView(DType::i64, source->get(), csr.nnz);
  format.source_memory = std::move(*source);
  format.bytes += static_cast<std::size_t>(csr.nnz) * sizeof(std::int64_t);
  return run.status();
}

/// Gives a format an order of rows of its own.
template <class Run>
Status add_order(Run& run, const DeviceCsr& csr, DeviceFormat& format) {
  const auto bytes = static_cast<std::size_t>(csr.rows) * sizeof(std::int32_t);
  auto order = run.allocate(bytes, "the row order");
  if (!order) return tl::unexpected(order.error());
  run.copy(order->get(), csr.row_order, bytes);
  run.wait();
  format.row_order = reinterpret_cast<const std::int32_t*>(order->get());
  format.order_memory = std::move(*order);
  format.bytes += bytes;
  return run.status();
}

template <class Run>
Result<DeviceFormat> convert_good(Run& run, const DeviceConversion<Run>& conversion, const DeviceCsr& csr,
                                  const ConvertParameters& parameters) {
  Room<ReorderedRoom> room;
  DeviceCsr ordered = csr;
  if (csr.row_order != nullptr) {
    const auto made = reorder_on(run, csr, room);
    if (!made) return tl::unexpected(made.error());
    ordered = *made;
  }
  auto format = conversion.convert(run, ordered, parameters);
  if (format && parameters.with_source && csr.value_dtype != DType::none)
    if (Status s = add_source(run, conversion, ordered, room.from, parameters, *format); !s)
      return tl::unexpected(s.error());
  if (format && csr.row_order != nullptr)
    if (Status s = add_order(run, csr, *format); !s) return tl::unexpected(s.error());
  return format;
}

/// See convert_on_device.
template <class Run>
Result<DeviceFormat> convert_on(Run& run, const formats::FormatLayout& layout, const DeviceCsr& csr,
                                const ConvertParameters& parameters) {
  if (Status s = check_request(layout, csr, parameters); !s) return tl::unexpected(s.error());
  for (const DeviceConversion<Run>& conversion : kDeviceConversions<Run>) {
    if (conversion.layout != &layout) continue;
    if (Status s = check_on(run, csr); !s) return tl::unexpected(s.error());
    return convert_good(run, conversion, csr, parameters);
  }
  return fail(Errc::unsupported,
              std::string(layout.name) + " cannot be made on a device; convert on the CPU");
}

}  // namespace sptile::runtime::cuda
