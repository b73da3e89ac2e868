// The table of conversions on the device, as templates over Run (format_memory.hpp).
#pragma once

#include <string>
#include <utility>

#include "runtime/cuda/convert/condensed.hpp"
#include "runtime/cuda/convert/csr_check.hpp"
#include "runtime/cuda/convert/gather_rows.hpp"
#include "runtime/cuda/convert/hc_window.hpp"
#include "runtime/cuda/convert/libra.hpp"
#include "runtime/cuda/convert/rs_tile.hpp"
#include "runtime/cuda/convert/tall.hpp"
#include "runtime/cuda/convert/transpose.hpp"

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
  int (*block_columns)(DType values) = nullptr;  ///< default of ConvertParameters::block_columns
};

template <class Run, Result<DeviceFormat> (*convert)(Run&, const DeviceCsr&)>
Result<DeviceFormat> without_parameters(Run& run, const DeviceCsr& csr, const ConvertParameters&) {
  return convert(run, csr);
}

template <class Run>
Result<DeviceFormat> tall_with(Run& run, const DeviceCsr& csr, const ConvertParameters& parameters) {
  return tall_on(run, csr, parameters.parameter);
}

template <class Run>
Result<DeviceFormat> rs_tile_with(Run& run, const DeviceCsr& csr, const ConvertParameters& parameters) {
  if (parameters.parameter)
    if (Status s = formats::check_parameter(formats::kRsTileLayout, *parameters.parameter); !s)
      return tl::unexpected(s.error());
  return rs_tile_on(run, csr, formats::rs_tile_setting(parameters.parameter.value_or(0)));
}

/// Requires block_columns to be set; see complete().
template <class Run, const formats::FormatLayout& layout, int threshold>
Result<DeviceFormat> libra_with(Run& run, const DeviceCsr& csr, const ConvertParameters& parameters) {
  return libra_on(run, csr, layout, {parameters.parameter.value_or(threshold), *parameters.block_columns});
}

template <class Run>
Result<DeviceFormat> hc_window_with(Run& run, const DeviceCsr& csr, const ConvertParameters& parameters) {
  return hc_window_on(run, csr, parameters.parameter.value_or(formats::hc_parameter(formats::kHcFitted)));
}

inline int sddmm_block_columns(DType) { return formats::kLibraSddmmBlockColumns; }

template <class Run>
inline constexpr DeviceConversion<Run> kDeviceConversions[] = {
    {&formats::kCsrLayout, without_parameters<Run, csr_on<Run>>},
    {&formats::kMeTcfLayout, without_parameters<Run, me_tcf_on<Run>>},
    {&formats::kBitTcfLayout, without_parameters<Run, bittcf_on<Run>>},
    {&formats::kBmatLayout, without_parameters<Run, bmat_on<Run>>},
    {&formats::kRsTileLayout, rs_tile_with<Run>},
    {&formats::kTallLayout, tall_with<Run>},
    {&formats::kLibraSpmmLayout, libra_with<Run, formats::kLibraSpmmLayout, formats::kLibraThreshold>,
     formats::libra_block_columns},
    {&formats::kLibraSddmmLayout, libra_with<Run, formats::kLibraSddmmLayout, formats::kLibraSddmmThreshold>,
     sddmm_block_columns},
    {&formats::kHcWindowLayout, hc_window_with<Run>},
};

/// Fills in parameters whose default depends on the value type; positions of values may be converted in place
/// of values of another type.
template <class Run>
ConvertParameters complete(const DeviceConversion<Run>& conversion, ConvertParameters parameters,
                           DType values) {
  if (conversion.block_columns != nullptr && !parameters.block_columns)
    parameters.block_columns = conversion.block_columns(values);
  return parameters;
}

struct ReorderedWorkspace {
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

/// Gathers the rows of a valid matrix in their order.
template <class Run>
Result<DeviceCsr> reorder_on(Run& run, const DeviceCsr& csr, Workspace<ReorderedWorkspace>& workspace) {
  const auto width = static_cast<std::int64_t>(size_of(csr.value_dtype));
  if (Status s = workspace.make(run, csr.rows, csr.nnz, csr.nnz * width); !s)
    return tl::unexpected(s.error());
  const OrderedRows order{csr.row_order};
  number_rows(run, csr, order, csr.rows, workspace.row_ptr);
  run.each(csr.nnz, GatherColumns<OrderedRows>{csr.row_ptr, workspace.row_ptr, csr.col_idx, order, csr.rows,
                                               workspace.col_idx, workspace.from});
  visit_value_word(csr.value_dtype, [&](auto word) {
    using Word = decltype(word);
    run.each(csr.nnz, GatherValues<Word>{workspace.from, static_cast<const Word*>(csr.values),
                                         reinterpret_cast<Word*>(workspace.values)});
  });
  DeviceCsr result = csr;
  result.row_ptr = workspace.row_ptr;
  result.col_idx = workspace.col_idx;
  result.values = workspace.values;
  result.row_order = nullptr;
  return result;
}

/// Errc::usage and Errc::unsupported for errors that do not depend on the matrix's contents.
inline Status check_request(const formats::FormatLayout& layout, const DeviceCsr& csr,
                            const ConvertParameters& parameters) {
  const std::string name(layout.name);
  if (parameters.parameter && (layout.parameter == nullptr || !layout.parameter->on_device))
    return fail(Errc::usage, name + ": conversions on a device choose the parameter; omit " +
                                 std::to_string(*parameters.parameter) + ", or convert on the CPU");
  return check_device_csr(csr, name);
}

/// Writes the original position of each entry: from[i] for a reordered matrix, else i.
struct WritePositions {
  const std::uint32_t* from;
  std::int64_t* to;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const { to[i] = from == nullptr ? i : from[i]; }
};

struct PositionsWorkspace {
  std::int64_t* positions = nullptr;

  void place(Arena& arena, std::int64_t entries) { arena.take(positions, entries); }
};

/// Converts the matrix with positions in place of values. from: see WritePositions.
template <class Run>
Result<DeviceFormat> convert_positions(Run& run, const DeviceConversion<Run>& conversion, DeviceCsr csr,
                                       const std::uint32_t* from, const ConvertParameters& parameters) {
  Workspace<PositionsWorkspace> workspace;
  if (Status s = workspace.make(run, csr.nnz); !s) return tl::unexpected(s.error());
  run.each(csr.nnz, WritePositions{from, workspace.positions});
  csr.values = workspace.positions;
  csr.value_dtype = DType::i64;
  return conversion.convert(run, csr, parameters);
}

/// Concatenates the positions stored in place of values. Synchronizes.
template <class Run>
Result<ValueSource> collect_positions(Run& run, const DeviceFormat& moved) {
  const std::int64_t count = moved.view.nnz;
  auto memory = run.allocate(static_cast<std::size_t>(count) * sizeof(std::int64_t), "value_source");
  if (!memory) return tl::unexpected(memory.error());
  ValueSource source{ArrayView(DType::i64, memory->get(), count), std::move(*memory)};
  std::byte* to = source.memory.get();
  for (std::size_t i = 0; i < moved.view.layout->arrays.size(); ++i) {
    if (!moved.view.layout->arrays[i].holds_values) continue;
    const ArrayView& part = moved.view.arrays[i];
    run.copy(to, part.data, static_cast<std::size_t>(part.bytes()));
    to += part.bytes();
  }
  run.wait();
  if (Status s = run.status(); !s) return tl::unexpected(s.error());
  return source;
}

/// Returns a valid matrix with its rows in order; `workspace` holds the reordered copy, if one is needed.
template <class Run>
Result<DeviceCsr> ordered_on(Run& run, const DeviceCsr& csr, Workspace<ReorderedWorkspace>& workspace) {
  if (csr.row_order == nullptr) return csr;
  return reorder_on(run, csr, workspace);
}

/// Copies the row order into the format.
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

/// Adds value_source to a format. `csr` and `from`: see WritePositions.
template <class Run>
Status add_source(Run& run, const DeviceConversion<Run>& conversion, const DeviceCsr& csr,
                  const std::uint32_t* from, const ConvertParameters& parameters, DeviceFormat& format) {
  const auto moved = convert_positions(run, conversion, csr, from, parameters);
  if (!moved) return tl::unexpected(moved.error());
  auto source = collect_positions(run, *moved);
  if (!source) return tl::unexpected(source.error());
  format.value_source = source->positions;
  format.source_memory = std::move(source->memory);
  format.bytes += static_cast<std::size_t>(format.value_source.bytes());
  return {};
}

template <class Run>
Result<DeviceFormat> convert_good(Run& run, const DeviceConversion<Run>& conversion, const DeviceCsr& csr,
                                  const ConvertParameters& parameters) {
  Workspace<ReorderedWorkspace> workspace;
  const auto ordered = ordered_on(run, csr, workspace);
  if (!ordered) return tl::unexpected(ordered.error());
  auto format = conversion.convert(run, *ordered, parameters);
  if (!format) return format;
  if (parameters.with_source && csr.value_dtype != DType::none)
    if (Status s = add_source(run, conversion, *ordered, workspace.from, parameters, *format); !s)
      return tl::unexpected(s.error());
  if (csr.row_order != nullptr)
    if (Status s = add_order(run, csr, *format); !s) return tl::unexpected(s.error());
  return format;
}

template <class Run>
const DeviceConversion<Run>* find_conversion(const formats::FormatLayout& layout) {
  for (const DeviceConversion<Run>& conversion : kDeviceConversions<Run>)
    if (conversion.layout == &layout) return &conversion;
  return nullptr;
}

inline tl::unexpected<Error> no_conversion(const formats::FormatLayout& layout) {
  return fail(Errc::unsupported,
              std::string(layout.name) + " cannot be created on a device; convert on the CPU");
}

/// Implements convert_on_device.
template <class Run>
Result<DeviceFormat> convert_on(Run& run, const formats::FormatLayout& layout, const DeviceCsr& csr,
                                const ConvertParameters& parameters) {
  if (Status s = check_request(layout, csr, parameters); !s) return tl::unexpected(s.error());
  const auto* const conversion = find_conversion<Run>(layout);
  if (conversion == nullptr) return no_conversion(layout);
  if (Status s = check_on(run, csr); !s) return tl::unexpected(s.error());
  return convert_good(run, *conversion, csr, complete(*conversion, parameters, csr.value_dtype));
}

/// Returns whether two formats have equal arrays except for values. Synchronizes.
template <class Run>
Result<bool> same_index(Run& run, const formats::FormatView& a, const formats::FormatView& b) {
  Workspace<CompareWorkspace> workspace;
  if (Status s = workspace.make(run); !s) return tl::unexpected(s.error());
  run.clear(workspace.differ, sizeof *workspace.differ);
  bool same = a.rows == b.rows && a.cols == b.cols && a.nnz == b.nnz;
  for (std::size_t i = 0; i < a.layout->arrays.size(); ++i) {
    const ArrayView &x = a.arrays[i], &y = b.arrays[i];
    if (a.layout->arrays[i].holds_values) continue;
    same = same && x.dtype == y.dtype && x.size == y.size;
    if (same)
      run.each(x.bytes(),
               CompareWords<std::uint8_t>{static_cast<const std::uint8_t*>(x.data),
                                          static_cast<const std::uint8_t*>(y.data), workspace.differ});
  }
  std::uint32_t differ = 0;
  run.download(&differ, workspace.differ, 1);
  if (Status s = run.status(); !s) return tl::unexpected(s.error());
  return same && differ == 0;
}

/// Implements make_value_source.
template <class Run>
Result<ValueSource> value_source_on(Run& run, const formats::FormatView& format, const DeviceCsr& a,
                                    const ConvertParameters& parameters) {
  const formats::FormatLayout& layout = *format.layout;
  if (Status s = check_device_csr(a, std::string(layout.name)); !s) return tl::unexpected(s.error());
  if (parameters.parameter)
    if (Status s = formats::check_parameter(layout, *parameters.parameter); !s)
      return tl::unexpected(s.error());
  const auto* const conversion = find_conversion<Run>(layout);
  if (conversion == nullptr) return no_conversion(layout);
  if (Status s = check_on(run, a); !s) return tl::unexpected(s.error());
  Workspace<ReorderedWorkspace> workspace;
  DeviceCsr index = a;
  index.value_dtype = DType::none;
  const auto ordered = ordered_on(run, index, workspace);
  if (!ordered) return tl::unexpected(ordered.error());
  const auto moved = convert_positions(run, *conversion, *ordered, workspace.from,
                                       complete(*conversion, parameters, a.value_dtype));
  if (!moved) return tl::unexpected(moved.error());
  const auto same = same_index(run, moved->view, format);
  if (!same) return tl::unexpected(same.error());
  if (!*same)
    return fail(Errc::bad_input,
                std::string(layout.name) +
                    ": the arrays do not match the CSR matrix; convert again to get a value_source");
  return collect_positions(run, *moved);
}

}  // namespace sptile::runtime::cuda
