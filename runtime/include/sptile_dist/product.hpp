// Distributed sparse-dense products.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <new>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sptile.hpp"
#include "sptile_dist/agreement.hpp"
#include "sptile_dist/exchange.hpp"
#include "sptile_dist/halo_rows.hpp"
#include "sptile_dist/host.hpp"

namespace sptile {
inline namespace v1 {
namespace dist {
namespace detail {

inline std::string path_of_part(const std::string& folder, std::int64_t rank) {
  char name[32];
  std::snprintf(name, sizeof name, "/part-%04lld.h5", static_cast<long long>(rank));
  return folder + name;
}

/// Returns the rows of a matrix from `first` on. Earlier rows have no entries.
inline CsrMatrix rows_from(CsrMatrix a, std::int64_t first) {
  a.rows -= first;
  a.row_ptr = a.row_ptr.subspan(static_cast<std::size_t>(first));
  return a;
}

}  // namespace detail

/// Options of a product.
struct ProductOptions {
  std::int64_t n = 0;       ///< columns of the dense operands, >= 1, the same in all processes
  bool transpose = false;   ///< also plan run_transposed
  int threads = 0;          ///< maximum number of CPU threads; 0: see sptile.h
  std::string format = {};  ///< as in PlanOptions; empty: the fastest stored format
  Precision precision = Precision::kernel_default;  ///< as in PlanOptions
  /// time formats and kernels when the product is planned; without `format`, on CUDA devices also formats to
  /// which conversion usually pays, some of which compute in tf32
  bool measured = false;
  /// fall back to the entire matrix in process 0 if that is faster, which reads and checks all parts and
  /// measures both; see fell_back
  bool never_slower = false;
};

/// Mean seconds of one product A B: distributed, and with the entire matrix in process 0 (infinity if its
/// memory does not suffice).
struct Measured {
  double divided = 0, whole = 0;
};

/// Computes C = A B with the part of this process. B and C contain the owned rows, whose ids in A are
/// `old_ids`. One object runs one product at a time. T is float or double, the type of the operands, which
/// are in the memory M: host memory, or the memory of the CUDA device that is current at construction.
///
/// The constructor and all runs are collective. An error in one process (a part that is missing, damaged or
/// of another partition, another n or T) is thrown by the constructor in all of them, so that no process
/// waits. Runs exchange rows only.
template <class T, Group E, class M = HostMemory>
class Product {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
  static constexpr bool on_stream = !std::is_base_of_v<HostMemory, M>;
  static_assert(on_stream ? StreamExchange<E> || HasHaloRows<E, T, M> : Exchange<E>,
                "exchanges of host memory require HostMemory; exchanges with a stream require CudaMemory");
  using Halo = typename detail::HaloRowsOf<T, E, M>::type;
  static constexpr bool has_choices = requires(Halo & h) { h.choices(); };

 public:
  /// Opens this process's part of `folder`, a directory written by `sptile partition`. Borrows the exchange.
  Product(const std::string& folder, E& exchange, const ProductOptions& options)
      : exchange_(exchange), n_(options.n) {
    std::optional<detail::Lists> lists;
    detail::Record record;
    detail::compare(detail::attempt(exchange, record, [&] {
      open(detail::path_of_part(folder, exchange.rank()), options, record);
      if (part_->parts() == exchange.size()) lists.emplace(*part_);  // otherwise all processes throw
    }));
    lists->compare(exchange);
    attempt(
        [&] { halo_.emplace(exchange_, *memory_, *rows_, *part_, n_, transpose_ && !part_->symmetric()); });
    halo_->connect();
    if constexpr (has_choices) choose();
    if (options.never_slower) take_the_faster(folder, options);
  }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  /// Returns the number of rows of A, B and C that this process owns; old_ids() returns their ids.
  [[nodiscard]] std::int64_t owned() const { return std::ssize(old_ids()); }
  [[nodiscard]] std::span<const std::int32_t> old_ids() const {
    return fell_back_ ? std::span<const std::int32_t>(whole_ids_) : part_->old_ids();
  }
  [[nodiscard]] const Part& part() const { return *part_; }
  /// Returns the bytes that this process has sent in all runs.
  [[nodiscard]] std::int64_t bytes_sent() const { return bytes_sent_; }
  /// Returns whether ProductOptions::never_slower found the entire matrix in process 0 faster. That process
  /// then owns all rows, the others own none, nothing is exchanged, and stderr has a note.
  [[nodiscard]] bool fell_back() const { return fell_back_; }
  /// Returns the measured times, equal in all processes.
  [[nodiscard]] const Measured& measured() const { return measured_; }
  /// Returns the name of the exchange that a DeviceExchange has chosen, "none" if the product fell back.
  [[nodiscard]] std::string wire() const requires has_choices { return halo_ ? halo_->wire() : "none"; }

  /// Computes C = A B; b and c have owned() * n elements, row-major. In device memory the product is enqueued
  /// on `stream`, a cudaStream_t (nullptr: the default stream), and rows are exchanged on another stream.
  void run(std::span<const T> b, std::span<T> c, void* stream = nullptr) {
    check_sizes(b, c);
    memory_->begin(stream);
    enqueue(b, c, stream);
    memory_->end(stream);
  }

  /// Computes C = A^T B, as gradients need it. Requires ProductOptions::transpose. Sums are formed in the
  /// order of senders, so that every run produces the same bits.
  void run_transposed(std::span<const T> b, std::span<T> c, void* stream = nullptr) {
    check_transposed(b, c);
    memory_->begin(stream);
    enqueue_transposed(b, c, stream);
    memory_->end(stream);
  }

  /// A product with fixed operands, captured in a CUDA graph. It borrows the product and must be destroyed
  /// first.
  class Captured {
   public:
    /// Enqueues the product of the present contents of B, as Product::run does. All processes that have
    /// captured the product together run it in the same order relative to other runs.
    void run(void* stream = nullptr) {
      product_->memory_->begin(stream);
      graph_.launch(stream);
      product_->memory_->end(stream);
      product_->bytes_sent_ += bytes_sent_;
    }

   private:
    friend Product;
    Captured(Product& product, typename M::Graph graph, std::int64_t bytes_sent)
        : product_(&product), graph_(std::move(graph)), bytes_sent_(bytes_sent) {}

    Product* product_;
    typename M::Graph graph_;
    std::int64_t bytes_sent_;
  };

  /// Computes C = A B once on `stream`, waits for it, and captures this product in a CUDA graph, whose runs
  /// cost the host one launch. Collective; an error in one process is thrown in all. b and c must stay valid.
  /// Requires an exchange that only enqueues work: NcclExchange, PeerExchange or DeviceExchange.
  [[nodiscard]] Captured capture(std::span<const T> b, std::span<T> c,
                                 void* stream = nullptr) requires on_stream {
    attempt([&] { check_sizes(b, c); });
    return captured([=, this](void* on) { enqueue(b, c, on); }, stream);
  }
  /// Captures C = A^T B, see capture. Requires ProductOptions::transpose.
  [[nodiscard]] Captured capture_transposed(std::span<const T> b, std::span<T> c,
                                            void* stream = nullptr) requires on_stream {
    attempt([&] { check_transposed(b, c); });
    return captured([=, this](void* on) { enqueue_transposed(b, c, on); }, stream);
  }

  /// Waits for the last run. In device memory, use it instead of cudaStreamSynchronize, which would wait
  /// forever for a process that has exited; this throws SPTILE_STATUS_IO after the time limit of the
  /// exchange.
  void wait() { memory_->wait(exchange_); }

 private:
  using Buffer = typename M::template Buffer<T>;

  /// An exchange in flight, which the destructor finishes even during an exception.
  class InFlight {
   public:
    explicit InFlight(Halo& halo) : halo_(halo) {}
    InFlight(const InFlight&) = delete;
    InFlight& operator=(const InFlight&) = delete;
    ~InFlight() {
      try {
        if (!std::exchange(finished_, true)) halo_.finish();
      } catch (const Exception&) {  // the first exception is reported
      }
    }

    void finish() {
      finished_ = true;
      halo_.finish();
    }

   private:
    Halo& halo_;
    bool finished_ = false;
  };

  void enqueue(std::span<const T> b, std::span<T> c, void* stream) {
    if (fell_back_) return multiply(local_, b, c, 0, stream);
    halo_->fetch(b.data(), memory_->fork(stream));
    InFlight exchange(*halo_);
    count(part_->send_offset());
    multiply(local_, b, c, 0, stream);
    exchange.finish();
    memory_->meet(stream);
    multiply(boundary_, halo_->received(), boundary_of(c), 1, stream);
  }

  void enqueue_transposed(std::span<const T> b, std::span<T> c, void* stream) {
    if (part_->symmetric()) return enqueue(b, c, stream);
    if (fell_back_) return multiply(local_transposed_, b, c, 0, stream);
    void* const side = memory_->fork(stream);
    multiply(halo_transposed_, b, halo_->received(), 0, side);
    halo_->give_back(side);
    InFlight exchange(*halo_);
    count(part_->receive_offset());
    multiply(local_transposed_, b, c, 0, stream);
    exchange.finish();
    memory_->meet(stream);
    rows_->add(halo_->returned().data(), c.data(), stream);
  }

  /// Counts the bytes of an exchange.
  void count(std::span<const std::int64_t> sent) {
    bytes_sent_ += sent.back() * n_ * static_cast<std::int64_t>(sizeof(T));
  }

  /// Runs `work` and throws an exception of one process in all of them.
  template <class Work>
  void attempt(const Work& work) {
    detail::Outcome outcome;
    detail::attempt(exchange_, outcome, work);
  }

  template <class Work>
  Captured captured(const Work& work, void* stream) {
    static_assert(Capturable<E>, "this exchange blocks the host, so that CUDA graphs cannot contain it");
    std::optional<typename M::Graph> graph;
    std::int64_t before = 0;
    attempt([&] {
      memory_->begin(stream);
      work(stream);  // connects processes and loads kernels, which a capture could not
      memory_->end(stream);
      wait();
      before = bytes_sent_;
      graph.emplace(work);
    });
    const std::int64_t sent = bytes_sent_ - before;
    bytes_sent_ = before;
    return Captured(*this, std::move(*graph), sent);
  }

  [[nodiscard]] std::size_t width() const { return static_cast<std::size_t>(n_); }
  /// Returns the rows of C that halo contributes to.
  [[nodiscard]] std::span<T> boundary_of(std::span<T> c) const {
    return c.subspan(static_cast<std::size_t>(part_->interior()) * width());
  }

  void open(const std::string& path, const ProductOptions& options, detail::Record& record) {
    if (n_ < 1) throw Exception(SPTILE_STATUS_USAGE, "n = " + std::to_string(n_) + "; expected at least 1");
    transpose_ = options.transpose;
    part_.emplace(path);
    check_size(part_->rows());
    check_size(std::ssize(part_->send_rows()));
    record.id = part_->id();
    record.parts = part_->parts();
    record.rank = part_->rank();
    record.n = n_;
    record.element_bytes = sizeof(T);
    record.transpose = transpose_ ? 1 : 0;
    record.never_slower = options.never_slower ? 1 : 0;
    memory_.emplace();
    Matrix local(*part_), halo(*part_, "halo");
    const bool both = transpose_ && !part_->symmetric();
    Matrix boundary(detail::rows_from(halo.csr(), part_->interior()), {.trusted = true});  // csr() checks
    local_ = planned(local, options, false);
    boundary_ = planned(boundary, options, false);
    if (both) {
      local_transposed_ = planned(local, options, true);
      halo_transposed_ = planned(halo, options, true);
    }
    rows_.emplace(*memory_, *part_, n_, both);
  }

  /// Checks that the size in bytes of an operand with `rows` rows does not overflow.
  void check_size(std::int64_t rows) const {
    constexpr auto limit =
        std::numeric_limits<std::ptrdiff_t>::max() / static_cast<std::ptrdiff_t>(sizeof(T));
    if (rows > 0 && n_ > limit / rows)
      throw Exception(SPTILE_STATUS_USAGE, "n = " + std::to_string(n_) + ", with " + std::to_string(rows) +
                                               " rows; they exceed the address space");
  }

  /// Plans a product; nullopt for a matrix without entries.
  std::optional<Plan> planned(Matrix& matrix, const ProductOptions& options, bool transpose) {
    if (matrix.nnz() == 0) return std::nullopt;
    return matrix.plan(
        "spmm", memory_->place({.n = n_,
                                .format = options.measured && options.format.empty() ? "any" : options.format,
                                .dense = std::is_same_v<T, double> ? Type::f64 : Type::f32,
                                .threads = options.threads,
                                .transpose = transpose,
                                .attributes = {{"precision", options.precision},
                                               {"choice", options.measured ? 1.0 : 0.0}}}));
  }

  /// Takes the exchange with which a product is fastest in the slowest process.
  void choose() {
    if (halo_->choices() > 1) {
      std::optional<Trial> own;
      attempt([&] { own.emplace(*this, owned()); });
      std::size_t best = 0;
      double least = std::numeric_limits<double>::infinity();
      for (std::size_t i = 0; i < halo_->choices(); ++i) {
        double seconds = 0;
        attempt([&] {
          halo_->use(i);
          seconds = own->seconds([&](std::span<const T> b, std::span<T> c) { run(b, c); });
        });
        const std::vector<double> all = detail::gathered(exchange_, seconds);
        const double slowest = *std::max_element(all.begin(), all.end());
        if (slowest < least) best = i, least = slowest;
      }
      bytes_sent_ = 0;
      halo_->use(best);
    }
    halo_->keep();
  }

  /// Measures both variants, and assigns all rows to process 0 if that is faster.
  void take_the_faster(const std::string& folder, const ProductOptions& options) {
    std::optional<Trial> own;
    attempt([&] { own.emplace(*this, owned()); });
    Measured mine;
    mine.divided = own->seconds([&](std::span<const T> b, std::span<T> c) { run(b, c); });
    own.reset();
    bytes_sent_ = 0;
    std::optional<Plan> whole, whole_transposed;
    std::vector<std::int32_t> whole_ids;
    attempt([&] {
      if (exchange_.rank() != 0) return;
      mine.whole = std::numeric_limits<double>::infinity();
      try {
        Matrix matrix = Matrix::whole(*part_, folder);
        whole = planned(matrix, options, false);
        if (transpose_ && !part_->symmetric()) whole_transposed = planned(matrix, options, true);
        whole_ids.resize(static_cast<std::size_t>(part_->rows()));
        std::iota(whole_ids.begin(), whole_ids.end(), 0);
        mine.whole = Trial(*this, part_->rows()).seconds([&](std::span<const T> b, std::span<T> c) {
          memory_->begin(nullptr);
          multiply(whole, b, c, 0, nullptr);
          memory_->end(nullptr);
        });
      } catch (const std::bad_alloc&) {  // operands
      } catch (const Exception& e) {     // out of memory of the host or device
        if (e.status() != SPTILE_STATUS_DEVICE) throw;
      }
    });
    const std::vector<Measured> measured = detail::gathered(exchange_, mine);
    measured_.whole = measured.front().whole;
    for (const Measured& one : measured) measured_.divided = std::max(measured_.divided, one.divided);
    if (!(measured_.whole < measured_.divided)) return;
    fell_back_ = true;
    local_ = std::move(whole);
    local_transposed_ = std::move(whole_transposed);
    boundary_.reset();
    halo_transposed_.reset();
    halo_.reset();
    whole_ids_ = std::move(whole_ids);
    if (exchange_.rank() != 0) return;
    std::fprintf(stderr,
                 "sptile: an SpMM takes %.3g s in %lld parts and %.3g s in one; process 0 now has all rows\n",
                 measured_.divided, static_cast<long long>(part_->parts()), measured_.whole);
  }

  /// Operands for a measurement.
  class Trial {
   public:
    Trial(Product& product, std::int64_t rows)
        : product_(product), b_(static_cast<std::size_t>(rows) * product.width()), c_(b_.size()) {
      product.memory_->clear(std::span<T>(b_.data(), b_.size()), nullptr);
    }

    /// Returns the mean seconds of run(b, c).
    template <class Run>
    double seconds(const Run& run) {
      constexpr int runs = 10;
      const std::span<T> b(b_.data(), b_.size()), c(c_.data(), c_.size());
      run(b, c);
      product_.wait();
      const auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < runs; ++i) run(b, c);
      product_.wait();
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / runs;
    }

   private:
    Product& product_;
    Buffer b_, c_;
  };

  void check_transposed(std::span<const T> b, std::span<T> c) const {
    if (!transpose_)
      throw Exception(SPTILE_STATUS_USAGE, "transposed products require ProductOptions::transpose");
    check_sizes(b, c);
  }

  void check_sizes(std::span<const T> b, std::span<T> c) const {
    const std::size_t wanted = static_cast<std::size_t>(owned()) * width();
    if (b.size() != wanted || c.size() != wanted)
      throw Exception(SPTILE_STATUS_USAGE, "B has " + std::to_string(b.size()) + " elements and C " +
                                               std::to_string(c.size()) + "; " + std::to_string(owned()) +
                                               " rows of " + std::to_string(n_) + " are " +
                                               std::to_string(wanted));
  }

  /// Computes c = a b + beta c.
  void multiply(const std::optional<Plan>& a, std::span<const T> b, std::span<T> c, double beta,
                void* stream) {
    if (a) {
      memory_->run(*a, {.dense = {{{b.data(), 0, 0}, {c.data(), 0, 0}}}, .beta = beta}, stream);
    } else if (beta == 0) {
      memory_->clear(c, stream);
    }
  }

  E& exchange_;
  std::int64_t n_;
  bool transpose_ = false, fell_back_ = false;
  Measured measured_;
  std::int64_t bytes_sent_ = 0;
  std::optional<Part> part_;
  std::vector<std::int32_t> whole_ids_;
  std::optional<M> memory_;
  std::optional<Plan> local_, boundary_, local_transposed_, halo_transposed_;
  std::optional<typename M::template SentRows<T>> rows_;
  std::optional<Halo> halo_;
};

}  // namespace dist
}  // namespace v1
}  // namespace sptile
