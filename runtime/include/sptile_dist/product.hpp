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
  static_assert(on_stream ? StreamExchange<E> : Exchange<E>,
                "exchanges of host memory require HostMemory; exchanges with a stream require CudaMemory");

 public:
  /// Opens this process's part of `folder`, a directory written by `sptile partition`. Borrows the exchange.
  Product(const std::string& folder, E& exchange, const ProductOptions& options)
      : exchange_(exchange), n_(options.n) {
    detail::Record record;
    std::optional<detail::Lists> lists;
    detail::attempt(exchange, record, [&] {
      open(detail::path_of_part(folder, exchange.rank()), options, record);
      if (part_->parts() == exchange.size()) lists.emplace(*part_);  // otherwise all processes throw
    });
    lists->compare(exchange);
    if (options.never_slower) take_the_faster(folder, options, record);
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

  /// Computes C = A B; b and c have owned() * n elements, row-major. In device memory the product is enqueued
  /// on `stream`, a cudaStream_t (nullptr: the default stream), and rows are exchanged on another stream.
  void run(std::span<const T> b, std::span<T> c, void* stream = nullptr) {
    check_sizes(b, c);
    void* const side = memory_->begin(stream);
    if (fell_back_) {
      multiply(local_, b, c, 0, stream);
    } else {
      rows_->gather(b.data(), sent_.data(), side);
      InFlight exchange(*this, sent_, part_->send_offset(), received_, part_->receive_offset(), side);
      multiply(local_, b, c, 0, stream);
      exchange.finish();
      memory_->meet(stream);
      multiply(boundary_, span_of(received_), boundary_of(c), 1, stream);
    }
    memory_->end(stream);
  }

  /// Computes C = A^T B, as gradients need it. Requires ProductOptions::transpose. Sums are formed in the
  /// order of senders, so that every run produces the same bits.
  void run_transposed(std::span<const T> b, std::span<T> c, void* stream = nullptr) {
    if (!transpose_)
      throw Exception(SPTILE_STATUS_USAGE, "run_transposed requires ProductOptions::transpose");
    if (part_->symmetric()) return run(b, c, stream);
    check_sizes(b, c);
    void* const side = memory_->begin(stream);
    if (fell_back_) {
      multiply(local_transposed_, b, c, 0, stream);
    } else {
      multiply(halo_transposed_, b, span_of(received_), 0, side);
      InFlight exchange(*this, received_, part_->receive_offset(), sent_, part_->send_offset(), side);
      multiply(local_transposed_, b, c, 0, stream);
      exchange.finish();
      memory_->meet(stream);
      rows_->add(sent_.data(), c.data(), stream);
    }
    memory_->end(stream);
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
    InFlight(Product& product, const Buffer& from, std::span<const std::int64_t> from_offset, Buffer& to,
             std::span<const std::int64_t> to_offset, [[maybe_unused]] void* side)
        : exchange_(product.exchange_) {
      const std::size_t row_bytes = product.width() * sizeof(T);
      if constexpr (on_stream)
        exchange_.start(from.data(), from_offset, to.data(), to_offset, row_bytes, side);
      else
        exchange_.start(from.data(), from_offset, to.data(), to_offset, row_bytes);
      started_ = true;
      product.bytes_sent_ += from_offset.back() * static_cast<std::int64_t>(row_bytes);
    }
    InFlight(const InFlight&) = delete;
    InFlight& operator=(const InFlight&) = delete;
    ~InFlight() {
      try {
        if (started_) exchange_.finish();
      } catch (const Exception&) {  // the first exception is reported
      }
    }

    void finish() {
      started_ = false;
      exchange_.finish();
    }

   private:
    E& exchange_;
    bool started_ = false;
  };

  [[nodiscard]] std::size_t width() const { return static_cast<std::size_t>(n_); }
  static std::span<T> span_of(Buffer& buffer) { return {buffer.data(), buffer.size()}; }
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
    record = {.id = part_->id(),
              .parts = part_->parts(),
              .rank = part_->rank(),
              .n = n_,
              .element_bytes = sizeof(T),
              .transpose = transpose_ ? 1 : 0,
              .never_slower = options.never_slower ? 1 : 0};
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
    sent_ = Buffer(part_->send_rows().size() * width());
    received_ = Buffer(static_cast<std::size_t>(part_->needed()) * width());
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
    return matrix.plan("spmm", memory_->place({.n = n_,
                                               .format = options.format,
                                               .dense = std::is_same_v<T, double> ? Type::f64 : Type::f32,
                                               .threads = options.threads,
                                               .transpose = transpose,
                                               .attributes = {{"precision", options.precision}}}));
  }

  /// Measures both variants, and assigns all rows to process 0 if that is faster.
  void take_the_faster(const std::string& folder, const ProductOptions& options, detail::Record& record) {
    std::optional<Trial> own;
    detail::attempt(exchange_, record, [&] { own.emplace(*this, owned()); });
    Measured mine;
    mine.divided = own->seconds([&](std::span<const T> b, std::span<T> c) { run(b, c); });
    own.reset();
    bytes_sent_ = 0;
    std::optional<Plan> whole, whole_transposed;
    std::vector<std::int32_t> whole_ids;
    detail::attempt(exchange_, record, [&] {
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
    sent_ = Buffer();
    received_ = Buffer();
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
      product.memory_->clear(span_of(b_), nullptr);
    }

    /// Returns the mean seconds of run(b, c).
    template <class Run>
    double seconds(const Run& run) {
      constexpr int runs = 5;
      run(span_of(b_), span_of(c_));
      product_.wait();
      const auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < runs; ++i) run(span_of(b_), span_of(c_));
      product_.wait();
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / runs;
    }

   private:
    Product& product_;
    Buffer b_, c_;
  };

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
  Buffer sent_, received_;
};

}  // namespace dist
}  // namespace v1
}  // namespace sptile
