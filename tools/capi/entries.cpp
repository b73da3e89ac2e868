// The C interface of functions on entries in host memory: sorting, transposition, samples of neighbors.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <utility>

#include "formats/core/add_rows.hpp"
#include "formats/core/buffer.hpp"
#include "formats/core/sample_neighbors.hpp"
#include "formats/core/sort_entries.hpp"
#include "runtime/capi/arguments.hpp"
#include "runtime/capi/error.hpp"
#include "tools/capi/sptile_tools.h"

struct sptile_tools_sample {
  sptile::formats::NeighborSample sample;
};

namespace sptile::tools {
namespace {

using runtime::null_argument;

constexpr std::size_t kSortedSize = SPTILE_SIZE_WITH(sptile_tools_sorted, nnz);
constexpr std::int64_t kMaxSide = std::numeric_limits<std::int32_t>::max();

template <class T>
std::span<T> span_of(T* data, std::int64_t size) {
  return {data, static_cast<std::size_t>(size)};
}

template <class T>
std::span<const T> ids(const void* data, std::int64_t size) {
  return span_of(static_cast<const T*>(data), size);
}

// Checks everything but the ids.
Result<sptile_arrays> read_pattern(const char* call, const sptile_arrays* from, sptile_layout layout) {
  if (from == nullptr) return null_argument(call, "arrays");
  auto a = runtime::read_struct<sptile_arrays>(from, SPTILE_SIZE_WITH(sptile_arrays, reserved),
                                               SPTILE_ARRAYS_INIT, "arrays");
  if (!a) return a;
  const auto refuse = [&](const char* what, std::int64_t found) {
    return fail(Errc::usage, fmt::format("{}: arrays.{}, got {}", call, what, found));
  };
  if (a->layout != layout)
    return refuse(
        layout == SPTILE_LAYOUT_COO ? "layout must be SPTILE_LAYOUT_COO" : "layout must be SPTILE_LAYOUT_CSR",
        a->layout);
  if (a->device != SPTILE_DEVICE_CPU) return refuse("device must be SPTILE_DEVICE_CPU", a->device);
  if (a->rows < 0 || a->rows > kMaxSide) return refuse("rows must be from 0 to 2^31 - 1", a->rows);
  if (a->cols < 0 || a->cols > kMaxSide) return refuse("cols must be from 0 to 2^31 - 1", a->cols);
  if (a->nnz < 0) return refuse("nnz must not be negative", a->nnz);
  if (a->row == nullptr && (layout == SPTILE_LAYOUT_CSR || a->nnz > 0))
    return null_argument(call, "arrays.row");
  if (a->col == nullptr && a->nnz > 0) return null_argument(call, "arrays.col");
  return a;
}

// A CSR pattern with the types of this interface.
Result<formats::CsrView> read_csr(const char* call, const sptile_arrays* from) {
  const auto a = read_pattern(call, from, SPTILE_LAYOUT_CSR);
  if (!a) return tl::unexpected(a.error());
  if ((a->row_dtype != 0 && a->row_dtype != SPTILE_DTYPE_I64) ||
      (a->col_dtype != 0 && a->col_dtype != SPTILE_DTYPE_I32))
    return fail(Errc::usage, fmt::format("{}: arrays must have SPTILE_DTYPE_I64 offsets and SPTILE_DTYPE_I32 "
                                         "columns, got types {} and {}",
                                         call, a->row_dtype, a->col_dtype));
  return formats::CsrView{
      a->rows, a->cols, ids<std::int64_t>(a->row, a->rows + 1), ids<std::int32_t>(a->col, a->nnz), {}};
}

struct Output {
  sptile_tools_sorted fields;
  formats::SortedEntries spans;
  [[nodiscard]] int threads() const { return std::max(fields.threads, 1); }
};

// The caller's memory for a pattern of `rows` rows and `entries` entries.
Result<Output> read_output(const char* call, const sptile_tools_sorted* to, std::int64_t rows,
                           std::int64_t entries, bool needs_position) {
  if (to == nullptr) return null_argument(call, "sorted");
  const auto out =
      runtime::read_struct<sptile_tools_sorted>(to, kSortedSize, SPTILE_TOOLS_SORTED_INIT, "sorted");
  if (!out) return tl::unexpected(out.error());
  if (out->row_ptr == nullptr) return null_argument(call, "sorted.row_ptr");
  if (entries > 0 && (out->col_idx == nullptr || out->source == nullptr))
    return null_argument(call, out->col_idx == nullptr ? "sorted.col_idx" : "sorted.source");
  if (entries > 0 && needs_position && out->position == nullptr)
    return null_argument(call, "sorted.position");
  return Output{*out,
                {span_of(out->row_ptr, rows + 1), span_of(out->col_idx, entries),
                 span_of(out->position, needs_position ? entries : 0), span_of(out->source, entries)}};
}

// Entries with ids of one of two types.
Result<sptile_arrays> read_entries(const char* call, const sptile_arrays* from) {
  auto a = read_pattern(call, from, SPTILE_LAYOUT_COO);
  if (!a) return a;
  if (a->row_dtype != a->col_dtype || (a->row_dtype != SPTILE_DTYPE_I32 && a->row_dtype != SPTILE_DTYPE_I64))
    return fail(
        Errc::usage,
        fmt::format("{}: rows and columns must both be SPTILE_DTYPE_I32 or SPTILE_DTYPE_I64, got types "
                    "{} and {}",
                    call, a->row_dtype, a->col_dtype));
  return a;
}

template <class Id>
formats::EntryIds<Id> typed(const sptile_arrays& a) {
  return {a.rows, a.cols, ids<Id>(a.row, a.nnz), ids<Id>(a.col, a.nnz)};
}

Status sort(const sptile_arrays* entries, sptile_tools_sorted* sorted) {
  constexpr const char* kCall = "sptile_tools_sort_entries";
  const auto a = read_entries(kCall, entries);
  if (!a) return tl::unexpected(a.error());
  const auto out = read_output(kCall, sorted, a->rows, a->nnz, true);
  if (!out) return tl::unexpected(out.error());
  const auto done = a->row_dtype == SPTILE_DTYPE_I32
                        ? formats::sort_entries(typed<std::int32_t>(*a), out->spans, out->threads())
                        : formats::sort_entries(typed<std::int64_t>(*a), out->spans, out->threads());
  if (!done) return tl::unexpected(done.error());
  sorted->ordered = done->is_ordered ? 1 : 0;
  sorted->nnz = done->nnz;
  return {};
}

template <class T>
Status add_typed(const sptile_arrays& a, const sptile_tools_rows& rows) {
  const auto x = span_of(static_cast<const T*>(rows.x), a.cols * rows.n);
  const auto out = span_of(static_cast<T*>(rows.out), a.rows * rows.n);
  const int threads = std::max(rows.threads, 1);
  return a.row_dtype == SPTILE_DTYPE_I32 ? formats::add_rows(typed<std::int32_t>(a), rows.n, x, out, threads)
                                         : formats::add_rows(typed<std::int64_t>(a), rows.n, x, out, threads);
}

Status add(const sptile_arrays* entries, const sptile_tools_rows* rows) {
  constexpr const char* kCall = "sptile_tools_add_rows";
  if (rows == nullptr) return null_argument(kCall, "rows");
  const auto a = read_entries(kCall, entries);
  if (!a) return tl::unexpected(a.error());
  const auto r = runtime::read_struct<sptile_tools_rows>(rows, SPTILE_SIZE_WITH(sptile_tools_rows, threads),
                                                         SPTILE_TOOLS_ROWS_INIT, "rows");
  if (!r) return tl::unexpected(r.error());
  constexpr std::int64_t kMaxColumns = std::int64_t{1} << 31;
  if (r->n < 0 || r->n > kMaxColumns)
    return fail(Errc::usage, fmt::format("{}: rows.n must be from 0 to 2^31, got {}", kCall, r->n));
  if (r->x == nullptr && a->cols * r->n > 0) return null_argument(kCall, "rows.x");
  if (r->out == nullptr && a->rows * r->n > 0) return null_argument(kCall, "rows.out");
  if (r->dtype == SPTILE_DTYPE_F32) return add_typed<float>(*a, *r);
  if (r->dtype == SPTILE_DTYPE_F64) return add_typed<double>(*a, *r);
  return fail(Errc::usage, fmt::format("{}: rows.dtype must be SPTILE_DTYPE_F32 or SPTILE_DTYPE_F64, got {}",
                                       kCall, r->dtype));
}

Status transpose(const sptile_arrays* pattern, sptile_tools_sorted* transposed) {
  constexpr const char* kCall = "sptile_tools_transpose_pattern";
  const auto a = read_csr(kCall, pattern);
  if (!a) return tl::unexpected(a.error());
  if (a->nnz() > kMaxSide)
    return fail(Errc::unsupported, fmt::format("{}: {} entries, more than 2^31 - 1", kCall, a->nnz()));
  const auto out = read_output(kCall, transposed, a->cols, a->nnz(), false);
  if (!out) return tl::unexpected(out.error());
  formats::transpose_entries(*a, out->spans, out->threads());
  transposed->ordered = 0;
  transposed->nnz = a->nnz();
  return {};
}

Status sample_into(const sptile_arrays* graph, const sptile_tools_sampling* sampling,
                   sptile_tools_sample** to) {
  constexpr const char* kCall = "sptile_tools_sample_create";
  if (sampling == nullptr) return null_argument(kCall, "sampling");
  const auto a = read_csr(kCall, graph);
  if (!a) return tl::unexpected(a.error());
  const auto how = runtime::read_struct<sptile_tools_sampling>(
      sampling, SPTILE_SIZE_WITH(sptile_tools_sampling, random), SPTILE_TOOLS_SAMPLING_INIT, "sampling");
  if (!how) return tl::unexpected(how.error());
  for (const auto& [count, data, name] :
       {std::tuple(how->seed_count, how->seeds, "seed"), std::tuple(how->hops, how->fan_outs, "fan-out")})
    if (count < 0 || (count > 0 && data == nullptr))
      return fail(Errc::usage, fmt::format("{}: {} {}s; pass their number and an array", kCall, count, name));
  auto made = formats::sample_neighbors(*a, span_of(how->seeds, how->seed_count),
                                        span_of(how->fan_outs, how->hops), how->random);
  if (!made) return tl::unexpected(made.error());
  *to = new sptile_tools_sample{std::move(*made)};
  return {};
}

Status describe_sample(const sptile_tools_sample* from, sptile_tools_sampled* to) {
  if (from == nullptr) return null_argument("sptile_tools_sample_arrays", "sample");
  if (to == nullptr) return null_argument("sptile_tools_sample_arrays", "sampled");
  const formats::NeighborSample& s = from->sample;
  return runtime::write_struct<sptile_tools_sampled>(
      to,
      {sizeof(sptile_tools_sampled), static_cast<std::int64_t>(s.node_ids.size()),
       static_cast<std::int64_t>(s.col_idx.size()), s.node_ids.data(), s.row_ptr.data(), s.col_idx.data(),
       s.edge_ids.data(), s.ends.data()},
      SPTILE_SIZE_WITH(sptile_tools_sampled, ends), "sampled");
}

// Like runtime::guarded, with the size of an array that did not fit.
template <class F>
sptile_status guarded(const F& f) noexcept {
  return runtime::guarded([&]() -> Status {
    try {
      return f();
    } catch (const formats::OutOfMemory& error) {
      return fail(Errc::io, error.what());
    }
  });
}

}  // namespace
}  // namespace sptile::tools

using namespace sptile::tools;

sptile_status sptile_tools_sort_entries(const sptile_arrays* entries, sptile_tools_sorted* sorted) {
  return guarded([&] { return sort(entries, sorted); });
}

sptile_status sptile_tools_add_rows(const sptile_arrays* entries, const sptile_tools_rows* rows) {
  return guarded([&] { return add(entries, rows); });
}

sptile_status sptile_tools_transpose_pattern(const sptile_arrays* pattern, sptile_tools_sorted* transposed) {
  return guarded([&] { return transpose(pattern, transposed); });
}

sptile_status sptile_tools_sample_create(const sptile_arrays* graph, const sptile_tools_sampling* sampling,
                                         sptile_tools_sample** sample) {
  if (sample == nullptr) return guarded([] { return null_argument("sptile_tools_sample_create", "sample"); });
  *sample = nullptr;
  return guarded([&] { return sample_into(graph, sampling, sample); });
}

sptile_status sptile_tools_sample_arrays(const sptile_tools_sample* sample, sptile_tools_sampled* sampled) {
  return guarded([&] { return describe_sample(sample, sampled); });
}

void sptile_tools_sample_destroy(sptile_tools_sample* sample) { delete sample; }
