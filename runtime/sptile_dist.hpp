// Products with a matrix that `sptile partition` divided among processes. Header only, over sptile.hpp; with
// SPTILE_DIST_MPI defined, and MPI's compiler, there is an exchange over MPI.
//
//   #define SPTILE_DIST_MPI
//   #include <sptile_dist.hpp>
//
//   sptile::dist::MpiExchange exchange(MPI_COMM_WORLD);
//   sptile::dist::Product<float, sptile::dist::MpiExchange> product("parts", exchange, {.n = 128});
//   product.run(b, c);  // std::vector<float> b(product.owned() * 128), c of the same size
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "sptile.hpp"

#ifdef SPTILE_DIST_MPI
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX  // the C interface is all that is used
#endif
#include <mpi.h>
#endif

namespace sptile {
inline namespace v1 {
namespace dist {

/// How processes exchange rows. Rows for (and from) process p lie at offsets[p] to offsets[p + 1] of a
/// buffer, counted in rows of `row_bytes`; buffers stay untouched from `start` to `finish`, one exchange at a
/// time. `all_gather` takes `bytes` of each process and gives those of all, by rank.
template <class E>
concept Exchange = requires(E& e, const void* from, void* to, std::span<const std::int64_t> offsets,
                            std::size_t bytes) {
  { e.rank() } -> std::convertible_to<std::int64_t>;
  { e.size() } -> std::convertible_to<std::int64_t>;
  e.all_gather(from, bytes, to);
  e.start(from, offsets, to, offsets, bytes /* of a row */);
  e.finish();
};

/// Options of a product.
struct ProductOptions {
  std::int64_t n = 0;       ///< columns of the dense operands, >= 1, the same in all processes
  bool transpose = false;   ///< run_transposed is wanted, too
  int threads = 0;          ///< 0: all that OpenMP gives
  std::string format = {};  ///< as of PlanOptions; empty: the best of those that are stored
};

namespace detail {

/// What all processes tell each other before anything is multiplied.
struct Record {
  std::uint64_t id = 0;  ///< of the partition
  std::int64_t parts = 0, rank = 0, n = 0, element_bytes = 0, transpose = 0;
  std::int64_t status = SPTILE_OK;
  char message[512] = {};

  void failed(sptile_status with, const std::string& why) {
    status = with;
    std::snprintf(message, sizeof message, "%s", why.c_str());
  }
};
static_assert(std::is_trivially_copyable_v<Record>);

inline std::string path_of_part(const std::string& folder, std::int64_t rank) {
  char name[32];
  std::snprintf(name, sizeof name, "/part-%04lld.h5", static_cast<long long>(rank));
  return folder + name;
}

/// Throws what is wrong with any process, the same in all of them: records are those of all, by rank.
inline void agree(const std::vector<Record>& records) {
  const auto refuse = [](std::size_t rank, sptile_status status, const std::string& what) {
    throw Exception(status, "rank " + std::to_string(rank) + ": " + what);
  };
  const auto processes = static_cast<std::int64_t>(records.size());
  for (std::size_t r = 0; r < records.size(); ++r)
    if (records[r].status != SPTILE_OK)
      refuse(r, static_cast<sptile_status>(records[r].status), records[r].message);
  const Record& first = records.front();
  const auto differs = [&](std::size_t r, const char* what, std::int64_t mine, std::int64_t firsts) {
    if (mine != firsts)
      refuse(r, SPTILE_USAGE,
             std::string(what) + " = " + std::to_string(mine) + ", but " + std::to_string(firsts) +
                 " in rank 0; give all processes the same");
  };
  for (std::size_t r = 0; r < records.size(); ++r) {
    const Record& one = records[r];
    if (one.parts != processes)
      refuse(r, SPTILE_USAGE,
             "the matrix is in " + std::to_string(one.parts) + " parts, but there are " +
                 std::to_string(processes) + " processes; start as many as parts");
    if (one.rank != static_cast<std::int64_t>(r))
      refuse(r, SPTILE_BAD_INPUT,
             "its part says that it is part " + std::to_string(one.rank) + "; partition the matrix again");
    if (one.id != first.id)
      refuse(r, SPTILE_BAD_INPUT,
             "its part is of another partition than that of rank 0; give all processes one folder");
    differs(r, "n", one.n, first.n);
    differs(r, "bytes of an element", one.element_bytes, first.element_bytes);
    differs(r, "transpose", one.transpose, first.transpose);
  }
}

}  // namespace detail

/// C = A B with the part of this process: B and C have its rows, `old_ids` says which of A they are. One
/// object runs one product at a time. T is float or double, the type of the operands in host memory.
///
/// The constructor and all runs are called by all processes. What is wrong in one of them (a part that is
/// missing or damaged, of another partition, another n or T) is thrown by the constructor in all of them, so
/// that nobody waits; runs exchange rows and nothing else.
template <class T, Exchange E>
class Product {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);

 public:
  /// folder: what `sptile partition` wrote. The exchange is borrowed.
  Product(const std::string& folder, E& exchange, const ProductOptions& options)
      : exchange_(exchange), n_(options.n) {
    detail::Record mine;
    try {
      open(detail::path_of_part(folder, exchange.rank()), options, mine);
    } catch (const Exception& e) {
      mine.failed(e.status(), e.what());
    } catch (const std::exception& e) {
      mine.failed(SPTILE_IO, e.what());
    }
    detail::agree(gathered(mine));
    detail::Record lists;  // parts are sound by themselves: do they fit together?
    if (const std::string wrong = misfit(); !wrong.empty()) lists.failed(SPTILE_BAD_INPUT, wrong);
    const std::vector<detail::Record> all = gathered(lists);
    for (std::size_t r = 0; r < all.size(); ++r)
      if (all[r].status != SPTILE_OK)
        throw Exception(SPTILE_BAD_INPUT, "rank " + std::to_string(r) + ": " + all[r].message);
  }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  /// Rows of A, and of B and C, that this process owns; which ones they are.
  [[nodiscard]] std::int64_t owned() const { return part_->owned(); }
  [[nodiscard]] std::span<const std::int32_t> old_ids() const { return part_->old_ids(); }
  [[nodiscard]] const Part& part() const { return *part_; }
  /// Bytes that this process has sent to others in all runs.
  [[nodiscard]] std::int64_t bytes_sent() const { return bytes_sent_; }

  /// C = A B; b and c: owned() * n elements, row-major.
  void run(std::span<const T> b, std::span<T> c) {
    check_sizes(b, c);
    gather(b);
    {
      const InFlight exchange(*this, sent_, part_->send_offset(), received_, part_->receive_offset());
      multiply(local_, b, c, 0);
    }
    multiply(halo_, received_, c, 1);
  }

  /// C = A^T B, as gradients need it; needs ProductOptions::transpose. Sums are formed sender after sender,
  /// so that every run gives the same bits.
  void run_transposed(std::span<const T> b, std::span<T> c) {
    if (!transpose_) throw Exception(SPTILE_USAGE, "run_transposed needs ProductOptions::transpose");
    if (part_->symmetric()) return run(b, c);
    check_sizes(b, c);
    multiply(halo_transposed_, b, received_, 0);
    {
      const InFlight exchange(*this, received_, part_->receive_offset(), sent_, part_->send_offset());
      multiply(local_transposed_, b, c, 0);
    }
    scatter(c);
  }

 private:
  /// An exchange, which is over when this goes, whatever happens meanwhile.
  class InFlight {
   public:
    InFlight(Product& product, const std::vector<T>& from, std::span<const std::int64_t> from_offset,
             std::vector<T>& to, std::span<const std::int64_t> to_offset)
        : exchange_(product.exchange_) {
      const std::size_t row_bytes = product.width() * sizeof(T);
      exchange_.start(from.data(), from_offset, to.data(), to_offset, row_bytes);
      product.bytes_sent_ += from_offset.back() * static_cast<std::int64_t>(row_bytes);
    }
    InFlight(const InFlight&) = delete;
    InFlight& operator=(const InFlight&) = delete;
    ~InFlight() { exchange_.finish(); }

   private:
    E& exchange_;
  };

  [[nodiscard]] std::size_t width() const { return static_cast<std::size_t>(n_); }

  void open(const std::string& path, const ProductOptions& options, detail::Record& mine) {
    if (n_ < 1) throw Exception(SPTILE_USAGE, "n = " + std::to_string(n_) + "; it is 1 or more");
    transpose_ = options.transpose;
    part_.emplace(path);
    mine = {.id = part_->id(),
            .parts = part_->parts(),
            .rank = part_->rank(),
            .n = n_,
            .element_bytes = sizeof(T),
            .transpose = transpose_ ? 1 : 0};
    Matrix local(path), halo(path, {.matrix = "halo"});
    local_ = planned(local, options, false);
    halo_ = planned(halo, options, false);
    if (transpose_ && !part_->symmetric()) {
      local_transposed_ = planned(local, options, true);
      halo_transposed_ = planned(halo, options, true);
    }
    sent_.resize(part_->send_rows().size() * width());
    received_.resize(static_cast<std::size_t>(part_->needed()) * width());
  }

  /// None for a matrix without entries.
  static std::optional<Plan> planned(Matrix& matrix, const ProductOptions& options, bool transpose) {
    if (matrix.nnz() == 0) return std::nullopt;
    return matrix.plan("spmm", {.n = options.n,
                                .format = options.format,
                                .dense = std::is_same_v<T, double> ? Type::f64 : Type::f32,
                                .threads = options.threads,
                                .transpose = transpose});
  }

  [[nodiscard]] std::vector<detail::Record> gathered(const detail::Record& mine) {
    std::vector<detail::Record> all(static_cast<std::size_t>(exchange_.size()));
    exchange_.all_gather(&mine, sizeof mine, all.data());
    return all;
  }

  /// How the rows that others send differ from those that are needed; "" where they do not. It is the old ids
  /// that are compared.
  [[nodiscard]] std::string misfit() {
    const std::span<const std::int64_t> from = part_->send_offset(), to = part_->receive_offset();
    const auto parts = static_cast<std::size_t>(part_->parts());
    std::vector<std::int64_t> all(parts * (parts + 1));
    exchange_.all_gather(from.data(), from.size_bytes(), all.data());
    std::vector<std::int64_t> arriving(parts + 1, 0);
    const auto own = static_cast<std::size_t>(part_->rank());
    for (std::size_t q = 0; q < parts; ++q) {
      const std::int64_t* offset = &all[q * (parts + 1) + own];
      arriving[q + 1] = arriving[q] + offset[1] - offset[0];
    }
    std::vector<std::int32_t> sent_ids, ids(static_cast<std::size_t>(arriving.back()));
    for (const std::int32_t row : part_->send_rows())
      sent_ids.push_back(part_->old_ids()[static_cast<std::size_t>(row)]);
    exchange_.start(sent_ids.data(), from, ids.data(), arriving, sizeof(std::int32_t));
    exchange_.finish();
    for (std::size_t q = 0; q < parts; ++q)
      if (arriving[q] != to[q] || arriving[q + 1] != to[q + 1])
        return "part " + std::to_string(q) + " sends " + std::to_string(arriving[q + 1] - arriving[q]) +
               " rows, " + std::to_string(to[q + 1] - to[q]) + " are needed; partition the matrix again";
    if (!std::equal(ids.begin(), ids.end(), part_->halo_ids().begin(), part_->halo_ids().end()))
      return "others send other rows than are needed; partition the matrix again";
    return "";
  }

  void check_sizes(std::span<const T> b, std::span<T> c) const {
    const std::size_t wanted = static_cast<std::size_t>(owned()) * width();
    if (b.size() != wanted || c.size() != wanted)
      throw Exception(SPTILE_USAGE, "B has " + std::to_string(b.size()) + " elements and C " +
                                        std::to_string(c.size()) + "; " + std::to_string(owned()) +
                                        " rows of " + std::to_string(n_) + " are " + std::to_string(wanted));
  }

  /// c = a b + beta c.
  static void multiply(const std::optional<Plan>& a, std::span<const T> b, std::span<T> c, double beta) {
    if (a) {
      a->run(b, c, {.beta = beta});
    } else if (beta == 0) {
      std::fill(c.begin(), c.end(), T(0));
    }
  }

  void gather(std::span<const T> b) {
    T* to = sent_.data();
    for (const std::int32_t row : part_->send_rows()) {
      std::copy_n(b.data() + static_cast<std::size_t>(row) * width(), width(), to);
      to += width();
    }
  }

  void scatter(std::span<T> c) const {
    const T* from = sent_.data();
    for (const std::int32_t row : part_->send_rows()) {
      T* to = c.data() + static_cast<std::size_t>(row) * width();
      for (std::size_t i = 0; i < width(); ++i) to[i] += from[i];
      from += width();
    }
  }

  E& exchange_;
  std::int64_t n_;
  bool transpose_ = false;
  std::int64_t bytes_sent_ = 0;
  std::optional<Part> part_;
  std::optional<Plan> local_, halo_, local_transposed_, halo_transposed_;
  std::vector<T> sent_, received_;
};

#ifdef SPTILE_DIST_MPI

/// An exchange over MPI (MPI_Ialltoallv), with a communicator of its own. MPI must be initialised before, and
/// finalised after this is gone. A process that dies ends all, unless the communicator says otherwise; other
/// errors of MPI are thrown.
class MpiExchange {
 public:
  explicit MpiExchange(MPI_Comm communicator) {
    check(MPI_Comm_dup(communicator, &communicator_), "MPI_Comm_dup");
    int rank = 0, size = 0;
    check(MPI_Comm_rank(communicator_, &rank), "MPI_Comm_rank");
    check(MPI_Comm_size(communicator_, &size), "MPI_Comm_size");
    rank_ = rank;
    size_ = size;
  }
  MpiExchange(const MpiExchange&) = delete;
  MpiExchange& operator=(const MpiExchange&) = delete;
  ~MpiExchange() { MPI_Comm_free(&communicator_); }

  [[nodiscard]] std::int64_t rank() const { return rank_; }
  [[nodiscard]] std::int64_t size() const { return size_; }

  void all_gather(const void* from, std::size_t bytes, void* to) {
    const int count = static_cast<int>(bytes);
    check(MPI_Allgather(from, count, MPI_BYTE, to, count, MPI_BYTE, communicator_), "MPI_Allgather");
  }

  void start(const void* from, std::span<const std::int64_t> from_offset, void* to,
             std::span<const std::int64_t> to_offset, std::size_t row_bytes) {
    sent_.set(from_offset);
    received_.set(to_offset);
    check(MPI_Type_contiguous(static_cast<int>(row_bytes), MPI_BYTE, &row_), "MPI_Type_contiguous");
    check(MPI_Type_commit(&row_), "MPI_Type_commit");
    check(MPI_Ialltoallv(from, sent_.counts.data(), sent_.places.data(), row_, to, received_.counts.data(),
                         received_.places.data(), row_, communicator_, &request_),
          "MPI_Ialltoallv");
  }

  void finish() {
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
    MPI_Type_free(&row_);
  }

 private:
  /// Rows for each process, as MPI wants them until the exchange is over.
  struct Rows {
    std::vector<int> counts, places;
    void set(std::span<const std::int64_t> offset) {
      counts.clear();
      places.clear();
      for (std::size_t p = 0; p + 1 < offset.size(); ++p) {
        counts.push_back(static_cast<int>(offset[p + 1] - offset[p]));
        places.push_back(static_cast<int>(offset[p]));
      }
    }
  };

  static void check(int status, const char* call) {
    if (status != MPI_SUCCESS)
      throw Exception(SPTILE_IO, std::string(call) + " failed with " + std::to_string(status));
  }

  MPI_Comm communicator_ = MPI_COMM_NULL;
  std::int64_t rank_ = 0, size_ = 0;
  MPI_Request request_ = MPI_REQUEST_NULL;
  MPI_Datatype row_ = MPI_DATATYPE_NULL;
  Rows sent_, received_;
};

#endif

}  // namespace dist
}  // namespace v1
}  // namespace sptile
