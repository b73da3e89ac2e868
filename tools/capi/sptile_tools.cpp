#include "tools/capi/sptile_tools.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

#include "formats/io/stream/sha256.hpp"
#include "formats/layout/csr.hpp"
#include "runtime/capi/arguments.hpp"
#include "runtime/capi/error.hpp"
#include "runtime/core/symmetry.hpp"
#include "tools/capi/csr_copy.hpp"
#include "tools/capi/long_call.hpp"
#include "tools/pipeline/conversion.hpp"
#include "tools/pipeline/input.hpp"
#include "tools/pipeline/names.hpp"
#include "tools/pipeline/order.hpp"
#include "tools/pipeline/order_quality.hpp"

struct sptile_tools_matrix {
  std::shared_ptr<const sptile::tools::LoadedMatrix> loaded;
  std::vector<sptile::tools::Message> messages;
};

namespace sptile::tools {
namespace {

using runtime::guarded;
using runtime::null_argument;

constexpr int kMaxThreads = 4096;
constexpr std::size_t kReportSize = SPTILE_SIZE_WITH(sptile_tools_report, reordered);
constexpr std::size_t kQualitySize = SPTILE_SIZE_WITH(sptile_tools_quality, bandwidth);

Status check_range(std::int64_t value, std::int64_t lowest, std::int64_t highest, const char* field) {
  if (value >= lowest && value <= highest) return {};
  return fail(Errc::usage,
              fmt::format("options.{} = {}; it must be from {} to {}", field, value, lowest, highest));
}

Result<sptile_tools_options> read_options(const sptile_tools_options* from) {
  if (from == nullptr) return sptile_tools_options SPTILE_TOOLS_OPTIONS_INIT;
  const auto options = runtime::read_struct<sptile_tools_options>(
      from, SPTILE_SIZE_WITH(sptile_tools_options, strict), SPTILE_TOOLS_OPTIONS_INIT, "options");
  if (!options) return options;
  Status s = check_range(options->threads, 0, kMaxThreads, "threads");
  if (s && options->window_rows != 0)
    s = check_range(options->window_rows, kMinWindowRows, kMaxWindowRows, "window_rows");
  if (s)
    s = check_range(options->transpose, SPTILE_TRANSPOSE_NEVER, SPTILE_TRANSPOSE_IF_SYMMETRIC, "transpose");
  if (s && options->dtype != SPTILE_DTYPE_NONE)
    s = runtime::value_type(options->dtype, "options.dtype").map([](DType) {});
  if (s) s = check_range(options->base, SPTILE_BASE_AUTO, SPTILE_BASE_1, "base");
  if (s &&
      (options->separator < 0 || options->separator > 127 ||
       std::string_view(" \t,;\0", 5).find(static_cast<char>(options->separator)) == std::string_view::npos))
    s = fail(Errc::usage, fmt::format("options.separator = {}; expected a blank, tab, comma or semicolon",
                                      options->separator));
  if (!s) return tl::unexpected(s.error());
  return options;
}

// Reads the options and runs the step with them.
template <class Step>
sptile_status call(const sptile_tools_options* from, const Step& step) noexcept {
  Result<sptile_tools_options> options = fail(Errc::internal, "");
  if (const sptile_status s = guarded([&] {
        options = read_options(from);
        return options ? Status() : Status(tl::unexpected(options.error()));
      });
      s != SPTILE_STATUS_OK)
    return s;
  const auto work_with = [&](CallWork& work) -> Status { return step(*options, work); };
  return long_call(*options, std::ref(work_with));  // std::ref avoids an allocation
}

std::string text_of(const char* text, const char* otherwise) { return text == nullptr ? otherwise : text; }

OrderRequest order_of(const sptile_tools_options& options) {
  OrderRequest order;
  order.method = text_of(options.method, "identity");
  order.preset = text_of(options.preset, "");
  if (options.settings != nullptr && *options.settings != '\0') order.settings = split_list(options.settings);
  order.window_rows = options.window_rows;
  return order;
}

std::string hash_of(const formats::CsrView& a) {
  formats::Sha256 hash;
  hash.update(a.row_ptr.data(), a.row_ptr.size_bytes());
  hash.update(a.col_idx.data(), a.col_idx.size_bytes());
  hash.update(a.values.data, static_cast<std::size_t>(a.values.bytes()));
  return hash.finish();
}

Status read(const char* path, sptile_tools_matrix** out, const sptile_tools_options& options,
            CallWork& work) {
  // the command uses "-" for standard input
  const std::string file = std::string_view(path) == "-" ? "./-" : path;
  auto loaded = load_matrix(
      work, file,
      {static_cast<DType>(options.dtype), options.real_part != 0, true,
       formats::EdgeListOptions{options.base - SPTILE_BASE_0, static_cast<char>(options.separator),
                                text_of(options.columns, "")},
       text_of(options.kind, "")});
  if (!loaded) return tl::unexpected(loaded.error());
  if (cancelled(&work.progress)) return fail(Errc::io, "cancelled");
  *out =
      new sptile_tools_matrix{std::make_shared<const LoadedMatrix>(std::move(*loaded)), work.take_messages()};
  return {};
}

Status copy(const sptile_arrays* from, sptile_tools_matrix** out, const sptile_tools_options& options,
            CallWork& work) {
  const auto arrays = runtime::read_struct<sptile_arrays>(from, SPTILE_SIZE_WITH(sptile_arrays, reserved),
                                                          SPTILE_ARRAYS_INIT, "arrays");
  if (!arrays) return tl::unexpected(arrays.error());
  begin(&work.progress, "copy", 0);
  auto copied = copy_csr(*arrays);
  if (!copied) return tl::unexpected(copied.error());
  LoadedMatrix loaded;
  loaded.csr = std::move(copied->csr);
  loaded.duplicates = copied->duplicates;
  loaded.loss = std::move(copied->loss);
  loaded.integers = copied->integers;
  loaded.name = "memory";
  loaded.sha256 = hash_of(loaded.csr.view());
  take_type(loaded, loaded.name, static_cast<DType>(options.dtype));
  if (cancelled(&work.progress)) return fail(Errc::io, "cancelled");
  *out =
      new sptile_tools_matrix{std::make_shared<const LoadedMatrix>(std::move(loaded)), work.take_messages()};
  return {};
}

Status describe(const sptile_tools_matrix* matrix, sptile_arrays* arrays) {
  if (matrix == nullptr) return null_argument("sptile_tools_arrays", "matrix");
  if (arrays == nullptr) return null_argument("sptile_tools_arrays", "arrays");
  const formats::CsrView a = matrix->loaded->csr.view();
  sptile_arrays described = SPTILE_ARRAYS_INIT;
  described.rows = a.rows, described.cols = a.cols, described.nnz = a.nnz();
  described.row = a.row_ptr.data(), described.col = a.col_idx.data(), described.values = a.values.data;
  described.value_dtype = static_cast<std::int32_t>(a.values.dtype);
  described.row_dtype = SPTILE_DTYPE_I64, described.col_dtype = SPTILE_DTYPE_I32;
  return runtime::write_struct<sptile_arrays>(arrays, described, SPTILE_SIZE_WITH(sptile_arrays, reserved),
                                              "arrays");
}

Status describe_losses_of(const sptile_tools_matrix* matrix, sptile_tools_loss* loss) {
  if (matrix == nullptr) return null_argument("sptile_tools_losses", "matrix");
  if (loss == nullptr) return null_argument("sptile_tools_losses", "loss");
  const formats::LossCounts& lost = matrix->loaded->loss;
  return runtime::write_struct<sptile_tools_loss>(
      loss, {sizeof(sptile_tools_loss), lost.overflowed, lost.underflowed, lost.inexact},
      SPTILE_SIZE_WITH(sptile_tools_loss, inexact), "loss");
}

// Returns the matrix with the value type of a bundle: the same object if it has that type.
std::shared_ptr<const LoadedMatrix> as_source(const std::shared_ptr<const LoadedMatrix>& matrix,
                                              DType dtype) {
  const formats::CsrView a = matrix->csr.view();
  if (a.is_pattern() || a.values.dtype == dtype) return matrix;
  LoadedMatrix other{formats::copy(a),   matrix->name, matrix->sha256,  {},
                     matrix->duplicates, matrix->loss, matrix->integers};
  take_type(other, other.name, dtype);
  return std::make_shared<const LoadedMatrix>(std::move(other));
}

// Checks for an existing file, with a message for this interface.
Status check_output(const char* path, const sptile_tools_options& options) {
  if (path == nullptr || options.overwrite != 0 || ::access(path, F_OK) != 0) return {};
  return fail(Errc::usage, "file exists; options.overwrite replaces it", path);
}

Result<ConvertTask> conversion_task(const std::shared_ptr<const LoadedMatrix>& matrix, const char* path,
                                    int fd, const sptile_tools_options& options) {
  if (Status s = check_output(path, options); !s) return tl::unexpected(s.error());
  ConvertOptions asked;
  asked.in = matrix->name;
  asked.out = text_of(path, "the file in memory");
  asked.fd = path == nullptr ? fd : -1;
  asked.formats = text_of(options.formats, "all");
  asked.dtype = options.dtype == SPTILE_DTYPE_NONE ? DType::f32 : static_cast<DType>(options.dtype);
  asked.order = order_of(options);
  asked.refreshable = options.refreshable != 0;
  asked.real_part = options.real_part != 0;
  asked.strict = options.strict != 0;
  asked.force = options.overwrite != 0;
  asked.transpose = options.transpose == SPTILE_TRANSPOSE_ALWAYS;
  auto task = resolve(asked);
  if (!task) return task;
  task->matrix = as_source(matrix, source_type(task->dtype));
  if (options.transpose == SPTILE_TRANSPOSE_IF_SYMMETRIC)
    task->transpose = runtime::is_symmetric(task->matrix->csr.view());
  return task;
}

// Checks an output struct before the work. `first_size` is the size in the first version.
template <class T>
Status check_size(const T* filled, std::size_t first_size, const char* what) {
  if (filled == nullptr || filled->size >= first_size) return {};
  return fail(Errc::usage, fmt::format("{}.size = {}; set it to sizeof", what, filled->size));
}

Status convert_matrix(const sptile_tools_matrix& matrix, const char* path, int fd, sptile_tools_report* out,
                      const sptile_tools_options& options, Work& work) {
  if (Status s = check_size(out, kReportSize, "report"); !s) return s;
  const auto task = conversion_task(matrix.loaded, path, fd, options);
  if (!task) return tl::unexpected(task.error());
  const auto made = convert(work, *task);
  if (!made) return tl::unexpected(made.error());
  if (out == nullptr) return {};
  return runtime::write_struct<sptile_tools_report>(out,
                                                    {.size = sizeof(sptile_tools_report),
                                                     .rows = made->rows,
                                                     .cols = made->cols,
                                                     .nnz = made->nnz,
                                                     .duplicates = made->duplicates,
                                                     .overflowed = made->lost.overflowed,
                                                     .file_bytes = made->file_bytes,
                                                     .seconds = made->total,
                                                     .symmetric = made->symmetric ? 1 : 0,
                                                     .reordered = made->reordered ? 1 : 0,
                                                     .underflowed = made->lost.underflowed,
                                                     .inexact = made->lost.inexact},
                                                    kReportSize, "report");
}

Status write_quality(sptile_tools_quality* out, const formats::CsrView& a,
                     std::span<const std::int32_t> order, const char* what) {
  if (out == nullptr) return {};
  static_assert(std::size(reorder::kQualityHeights) == SPTILE_TOOLS_HEIGHTS);
  const OrderQuality measured = measure_order(a, order);
  sptile_tools_quality quality{};
  for (std::size_t i = 0; i < SPTILE_TOOLS_HEIGHTS; ++i) {
    const reorder::WindowQuality& w = measured.windows[i];
    quality.windows[i] = {w.window_rows, w.distinct_columns, w.tc_blocks, w.mean_nnz_tc, w.nnz1_ratio};
  }
  quality.jaccard_cost = measured.locality.jaccard_cost;
  quality.working_set_columns = measured.locality.working_set_columns;
  quality.bandwidth = measured.locality.bandwidth.value_or(-1);
  return runtime::write_struct<sptile_tools_quality>(out, quality, kQualitySize, what);
}

Status reorder_matrix(const sptile_tools_matrix& matrix, std::int32_t* new_to_old,
                      sptile_tools_quality* before, sptile_tools_quality* after,
                      const sptile_tools_options& options, Work& work) {
  for (const auto& [quality, what] : {std::pair(before, "before"), std::pair(after, "after")})
    if (Status s = check_size(quality, kQualitySize, what); !s) return s;
  const auto ordering = resolve_order(order_of(options));
  if (!ordering) return tl::unexpected(ordering.error());
  const formats::CsrView a = matrix.loaded->csr.view();
  const auto order = compute_order(work, *ordering, a);
  if (!order) return tl::unexpected(order.error());
  begin(&work.progress, "measure", 0);
  if (Status s = write_quality(before, a, {}, "before"); !s) return s;
  if (Status s = write_quality(after, a, *order, "after"); !s) return s;
  if (cancelled(&work.progress)) return fail(Errc::io, "cancelled");
  if (order->empty())
    std::iota(new_to_old, new_to_old + a.rows, 0);
  else
    std::copy(order->begin(), order->end(), new_to_old);
  return {};
}

}  // namespace
}  // namespace sptile::tools

using namespace sptile::tools;

int sptile_tools_abi_version(void) { return 1; }

const char* sptile_tools_version(void) { return SPTILE_VERSION; }

const char* sptile_tools_last_error(void) { return sptile_last_error(); }

sptile_status sptile_tools_read(const char* path, const sptile_tools_options* options,
                                sptile_tools_matrix** matrix) {
  if (matrix == nullptr) return guarded([] { return null_argument("sptile_tools_read", "matrix"); });
  *matrix = nullptr;
  if (path == nullptr) return guarded([] { return null_argument("sptile_tools_read", "path"); });
  return call(options,
              [=](const auto& read_from, CallWork& work) { return read(path, matrix, read_from, work); });
}

sptile_status sptile_tools_copy(const sptile_arrays* arrays, const sptile_tools_options* options,
                                sptile_tools_matrix** matrix) {
  if (matrix == nullptr) return guarded([] { return null_argument("sptile_tools_copy", "matrix"); });
  *matrix = nullptr;
  if (arrays == nullptr) return guarded([] { return null_argument("sptile_tools_copy", "arrays"); });
  return call(options, [=](const auto& given, CallWork& work) { return copy(arrays, matrix, given, work); });
}

sptile_status sptile_tools_arrays(const sptile_tools_matrix* matrix, sptile_arrays* arrays) {
  return guarded([&] { return describe(matrix, arrays); });
}

sptile_status sptile_tools_losses(const sptile_tools_matrix* matrix, sptile_tools_loss* loss) {
  return guarded([&] { return describe_losses_of(matrix, loss); });
}

const char* sptile_tools_note(const sptile_tools_matrix* matrix, int64_t number, int32_t* is_warning) {
  if (matrix == nullptr || number < 0 || number >= static_cast<int64_t>(matrix->messages.size()))
    return nullptr;
  const Message& message = matrix->messages[static_cast<std::size_t>(number)];
  if (is_warning != nullptr) *is_warning = message.is_warning ? 1 : 0;
  return message.text.c_str();
}

void sptile_tools_matrix_destroy(sptile_tools_matrix* matrix) { delete matrix; }

sptile_status sptile_tools_convert(const sptile_tools_matrix* matrix, const char* path, int fd,
                                   const sptile_tools_options* options, sptile_tools_report* report) {
  if (matrix == nullptr) return guarded([] { return null_argument("sptile_tools_convert", "matrix"); });
  if (path == nullptr && fd < 0)
    return guarded(
        [] { return fail(sptile::Errc::usage, "sptile_tools_convert: neither path nor fd is given"); });
  return call(options, [=](const auto& given, Work& work) {
    return convert_matrix(*matrix, path, fd, report, given, work);
  });
}

sptile_status sptile_tools_reorder(const sptile_tools_matrix* matrix, const sptile_tools_options* options,
                                   int32_t* new_to_old, sptile_tools_quality* before,
                                   sptile_tools_quality* after) {
  if (matrix == nullptr) return guarded([] { return null_argument("sptile_tools_reorder", "matrix"); });
  if (new_to_old == nullptr && matrix->loaded->csr.rows > 0)
    return guarded([] { return null_argument("sptile_tools_reorder", "new_to_old"); });
  return call(options, [=](const auto& given, Work& work) {
    return reorder_matrix(*matrix, new_to_old, before, after, given, work);
  });
}
