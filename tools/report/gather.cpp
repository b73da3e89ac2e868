#include "tools/report/gather.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "formats/convert/packed_positions.hpp"
#include "formats/io/files/available_memory.hpp"
#include "reorder/quality/quality.hpp"
#include "runtime/core/symmetry.hpp"
#include "runtime/operation/operation.hpp"
#include "runtime/threads/count.hpp"
#include "tools/cuda/device_bench.hpp"
#include "tools/measure/host_bench.hpp"
#include "tools/measure/operations.hpp"
#include "tools/measure/roofline.hpp"
#include "tools/pipeline/devices.hpp"
#include "tools/pipeline/input.hpp"
#include "tools/pipeline/stopwatch.hpp"
#include "tools/report/recommend.hpp"

namespace sptile::tools::report {
namespace {

constexpr std::size_t kMaxBins = 16;  // bins of row lengths

using Order = std::vector<std::int32_t>;

constexpr std::int64_t kMinBytes = std::int64_t{1} << 26, kMaxBytes = std::int64_t{1} << 29;
constexpr int kCopies = 5;
constexpr std::int64_t kPiece = std::int64_t{1} << 20;

void copy_pieces(std::byte* to, const std::byte* from, std::int64_t bytes) {
#pragma omp parallel for schedule(static) num_threads(runtime::max_threads())
  for (std::int64_t at = 0; at < bytes; at += kPiece)
    std::memcpy(to + at, from + at, static_cast<std::size_t>(std::min(kPiece, bytes - at)));
}

/// Measures a copy between two arrays that exceed the caches: bytes read and written per second by all
/// threads, the maximum of several copies. 0 without enough memory.
double measure_host_copy() try {
  const std::int64_t cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  const std::int64_t bytes = std::clamp(4 * std::max<std::int64_t>(cache, 0), kMinBytes, kMaxBytes);
  const auto from = std::make_unique<std::byte[]>(static_cast<std::size_t>(bytes)),
             to = std::make_unique<std::byte[]>(static_cast<std::size_t>(bytes));
  copy_pieces(to.get(), from.get(), bytes);  // every page is there then
  double best = 0;
  for (int i = 0; i < kCopies; ++i) {
    const Stopwatch watch;
    copy_pieces(to.get(), from.get(), bytes);
    best = std::max(best, 2 * static_cast<double>(bytes) / watch.seconds());
  }
  return best;
} catch (const std::bad_alloc&) {
  return 0;
}

void describe(Report& report, const Task& task, const LoadedMatrix& loaded) {
  const formats::CsrView a = loaded.csr.view();
  report.input = task.in;
  report.name = loaded.name;
  report.rows = a.rows;
  report.cols = a.cols;
  report.nnz = a.nnz();
  report.dtype = a.values.dtype;
  report.symmetric = runtime::is_symmetric(a);
  std::vector<std::int64_t> lengths = row_lengths(a);
  report.row_bins = length_bins(lengths, kMaxBins);
  report.row_nnz = measure_lengths(std::move(lengths), a.rows);
  report.column_nnz = measure_lengths(column_lengths(a), a.cols);
  report.window_rows = task.window_rows;
}

// Computes each ordering and returns the one with the fewest blocks, the first of equals.
Result<Order> try_orders(Session& session, const Task& task, const formats::CsrView& a, Report& report) {
  Order best;
  for (const Ordering& ordering : task.orderings) {
    OrderTried tried{ordering.label(), "--reorder " + ordering.typed, 0, {}, 0, {}};
    const Stopwatch watch;
    auto order = compute_order(session, ordering, a);
    tried.seconds = watch.seconds();
    if (!order && order.error().code != Errc::unsupported) return tl::unexpected(std::move(order.error()));
    if (!order) {
      tried.refused = order.error().message;
    } else {
      begin(&session.progress, "measure", 0);
      tried.quality = measure_order(a, *order);
      tried.tc_blocks = reorder::measure_windows(a, *order, task.window_rows).tc_blocks;
      if (!report.orders.empty() && tried.tc_blocks < report.orders[report.best_order].tc_blocks) {
        report.best_order = report.orders.size();
        best = std::move(*order);
      }
    }
    report.orders.push_back(std::move(tried));
  }
  return best;
}

spy::Panel render(const Task& task, const formats::CsrView& a, const Order& order, std::string caption) {
  const bool columns_too = a.rows == a.cols;
  return {spy::rasterise(a, order, columns_too ? order : Order(), task.picture_size), a.rows, a.cols,
          std::move(caption)};
}

// Predicts products with the formats of a matrix, and measures them if requested.
class Products {
 public:
  Products(Session& session, const Task& task, const formats::CsrView& a)
      : session_(session),
        task_(task),
        op_(operation_named(task.request.op)),
        dense_(dense_types(task.request.dense, task.request.result, a.values.dtype)),
        host_(session, {.device = task.device,
                        .check = CheckedRows::some,
                        .trusted = true,
                        .attributes = task.request.attributes.given()}) {}

  Status open(const formats::CsrView& a) {
    bench_ = &host_;
    if (task_.measure && task_.device == runtime::Device::cuda) {
      auto device = make_device_bench(session_, {.attributes = task_.request.attributes.given()});
      if (!device) return tl::unexpected(std::move(device.error()));
      device_ = std::move(*device);
      bench_ = device_.get();
    }
    for (ProductBench* bench : {static_cast<ProductBench*>(&host_), bench_}) {
      if (Status s = bench->set_matrix(a, dense_); !s) return s;
      if (Status s = bench->set_operands(op_, task_.request.n); !s) return s;
    }
    return {};
  }

  void describe(Report& report) const {
    report.op = operation_label(op_, attributes_text(task_.request.attributes.given()));
    report.device = name_of(task_.device);
    for (const DeviceRow& row : devices())
      if (row.device == task_.device) report.device_detail = device_detail(row);
    report.dense = name_of(dense_.operands);
    report.n = task_.request.n;
    report.measured = task_.measure;
    const auto size = [](DType type) { return static_cast<std::int64_t>(size_of(type)); };
    report.compulsory_bytes = compulsory_bytes(
        {report.rows, report.cols, report.nnz, report.n, element(), size(report.dtype), size(dense_.result)});
    if (!task_.measure) return;
    const auto facts = bench_->facts();
    report.copy_rate = facts ? facts->ceilings.copy : measure_host_copy();
    if (report.copy_rate > 0)
      report.floor_us = 1e6 * static_cast<double>(report.compulsory_bytes) / report.copy_rate;
  }

  // Adds the results of one format, which is, or will be, the last of `found.sizes`.
  Status add(const formats::FormatView& format, const Order& order, FormatsInOrder& found) {
    runtime::PlanMatrix a{format, order, {}, nullptr};
    const runtime::PlanOptions options = host_.plan_options(request());
    auto list = runtime::predict_product(op_, {&a, 1}, options);
    if (!list) return tl::unexpected(std::move(list.error()));
    formats::Array entries;
    if (task_.measure && has_entry_lists(op_) && task_.device == runtime::Device::cuda) {
      auto packed = formats::packed_entries(format, order);
      if (!packed) return tl::unexpected(std::move(packed.error()));
      entries = std::move(*packed);
      a.value_source = entries.view();
    }
    for (runtime::Candidate& candidate : *list) {
      candidate.chosen = false;  // chosen among the formats of all orders, see recommend
      if (is_requested(candidate))
        if (Status s = measure(a, candidate); !s) return s;
      found.candidates.push_back(std::move(candidate));
    }
    return {};
  }

  /// Returns the number of kernels that were not measured within the time limit.
  [[nodiscard]] std::int64_t not_reached() const { return not_reached_; }
  [[nodiscard]] std::int64_t element() const { return static_cast<std::int64_t>(size_of(dense_.operands)); }

 private:
  [[nodiscard]] KernelRequest request() const {
    return {task_.request.kernel, precision_named(task_.request.precision)};
  }

  [[nodiscard]] bool is_requested(const runtime::Candidate& candidate) const {
    return task_.measure && candidate.refused.empty() &&
           (task_.formats.empty() ||
            std::ranges::find(task_.formats, candidate.format) != task_.formats.end());
  }

  // The time limit does not interrupt a measurement.
  Status measure(const runtime::PlanMatrix& a, runtime::Candidate& candidate) {
    if (spent_ >= task_.seconds) {
      ++not_reached_;
      return {};
    }
    const Stopwatch watch;
    Status s = measure_now(a, candidate);
    spent_ += watch.seconds();
    return s;
  }

  Status measure_now(const runtime::PlanMatrix& a, runtime::Candidate& candidate) {
    const auto measured = bench_->measure(a, {candidate.kernel->name, request().precision});
    if (!measured && measured.error().code == Errc::unsupported) {
      candidate.refused = measured.error().message;
      return {};
    }
    if (!measured) return tl::unexpected(measured.error());
    candidate.measured_us = measured->median_us;
    return check_outcome(*measured);
  }

  Session& session_;
  const Task& task_;
  const runtime::Operation& op_;
  runtime::DenseTypes dense_;
  HostBench host_;
  double spent_ = 0;  // seconds spent measuring
  std::int64_t not_reached_ = 0;
  std::unique_ptr<ProductBench> device_;
  ProductBench* bench_ = nullptr;
};

// Returns an upper bound of the memory traffic of a product: the format, the loaded rows, and operands with
// one row per row of A.
std::int64_t moved_bytes(const FormatRow& row, const Report& report, std::int64_t element) {
  return row.index_bytes + row.value_bytes + (row.loads + report.rows) * report.n * element;
}

Status add_formats(Session& session, Products& products, const formats::CsrView& a, const Order& order,
                   FormatsInOrder& found, const Report& report) {
  auto sizes = measure_formats(
      session, a, [&](const formats::FormatView& format) { return products.add(format, order, found); });
  if (!sizes) return tl::unexpected(std::move(sizes.error()));
  found.sizes = std::move(*sizes);
  for (const FormatRow& row : found.sizes)
    found.moved_bytes.push_back(moved_bytes(row, report, products.element()));
  for (runtime::Candidate& candidate : found.candidates)
    candidate.matrix = static_cast<std::size_t>(
        std::ranges::find(found.sizes, candidate.format, &FormatRow::name) - found.sizes.begin());
  return {};
}

}  // namespace

Result<Report> gather(Session& session, const Task& task) {
  auto loaded = load_matrix(session, task.in, task.input.load(task.dtype));
  if (!loaded) return tl::unexpected(std::move(loaded.error()));
  const formats::CsrView a = loaded->csr.view();
  if (Status s = formats::check_row_memory(a.rows, 16); !s) return tl::unexpected(std::move(s.error()));
  Report report;
  describe(report, task, *loaded);
  const auto best = try_orders(session, task, a, report);
  if (!best) return tl::unexpected(best.error());
  const bool moved = report.best_order != 0;
  report.panels.push_back(render(task, a, {}, "original order"));
  if (moved)
    report.panels.push_back(render(task, a, *best, "ordered by " + report.orders[report.best_order].label));

  Products products(session, task, a);
  if (Status s = products.open(a); !s) return tl::unexpected(std::move(s.error()));
  products.describe(report);
  report.formats.push_back({0, {}, {}, {}});
  if (Status s = add_formats(session, products, a, {}, report.formats.back(), report); !s)
    return tl::unexpected(std::move(s.error()));
  if (moved) {
    const formats::Csr permuted = formats::permute_rows(a, *best);
    report.formats.push_back({report.best_order, {}, {}, {}});
    if (Status s = add_formats(session, products, permuted.view(), *best, report.formats.back(), report); !s)
      return tl::unexpected(std::move(s.error()));
  }
  report.not_reached = products.not_reached();
  recommend(report);
  return report;
}

}  // namespace sptile::tools::report
