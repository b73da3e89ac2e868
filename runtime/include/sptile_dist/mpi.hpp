// Exchange over MPI.
#pragma once

#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX  // only the C interface is used
#endif
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "sptile.hpp"
#include "sptile_dist/exchange.hpp"

namespace sptile {
inline namespace v1 {
namespace dist {

/// An exchange over MPI with a duplicated communicator. MPI must be initialized before construction and
/// finalized after destruction. A process that exits, or that does not answer within `seconds`, aborts all
/// processes, unless the error handler of the communicator is MPI_ERRORS_RETURN: then an exception is thrown.
class MpiExchange {
 public:
  explicit MpiExchange(MPI_Comm communicator, double seconds = 600) : seconds_(seconds) {
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
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Iallgather(from, count, MPI_BYTE, to, count, MPI_BYTE, communicator_, &request),
          "MPI_Iallgather");
    wait(request);
  }

  void start(const void* from, std::span<const std::int64_t> from_offset, void* to,
             std::span<const std::int64_t> to_offset, std::size_t row_bytes) {
    set(from_offset, to_offset, row_bytes);
    check(MPI_Ialltoallv(from, sent_.counts.data(), sent_.places.data(), row_, to, received_.counts.data(),
                         received_.places.data(), row_, communicator_, &request_),
          "MPI_Ialltoallv");
  }

  void finish() {
    wait(request_);
    MPI_Type_free(&row_);
  }

  /// Returns whether blocking calls of MPI accept device memory. Only Open MPI reports this.
  [[nodiscard]] static bool takes_device_memory() {
#if defined(OMPI_HAVE_MPI_EXT_CUDA) && OMPI_HAVE_MPI_EXT_CUDA
    return MPIX_Query_cuda_support() == 1;
#else
    return false;
#endif
  }

  /// Runs a complete exchange in device memory, if MPI accepts it.
  void exchange_device_memory(const void* from, std::span<const std::int64_t> from_offset, void* to,
                              std::span<const std::int64_t> to_offset, std::size_t row_bytes) {
    set(from_offset, to_offset, row_bytes);
    check(MPI_Alltoallv(from, sent_.counts.data(), sent_.places.data(), row_, to, received_.counts.data(),
                        received_.places.data(), row_, communicator_),
          "MPI_Alltoallv");
    MPI_Type_free(&row_);
  }

 private:
  /// Counts and offsets of the rows for each process, which MPI reads until the exchange ends.
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

  void set(std::span<const std::int64_t> from_offset, std::span<const std::int64_t> to_offset,
           std::size_t row_bytes) {
    sent_.set(from_offset);
    received_.set(to_offset);
    check(MPI_Type_contiguous(static_cast<int>(row_bytes), MPI_BYTE, &row_), "MPI_Type_contiguous");
    check(MPI_Type_commit(&row_), "MPI_Type_commit");
  }

  void wait(MPI_Request& request) {
    const detail::Deadline deadline(seconds_);
    for (int done = 0; done == 0; std::this_thread::yield()) {
      check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      if (done == 0 && deadline.over()) give_up(detail::no_answer(rank_, size_, seconds_));
    }
  }

  /// Reports an error through the error handler of the communicator, which aborts by default. The message is
  /// also printed here, because mpirun may lose messages of several processes that fail at once.
  [[noreturn]] void give_up(const std::string& why) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(communicator_, &handler);
    if (handler == MPI_ERRORS_ARE_FATAL) std::fprintf(stderr, "sptile: %s\n", why.c_str());
    MPI_Errhandler_free(&handler);
    int kind = 0, code = 0;
    MPI_Add_error_class(&kind);
    MPI_Add_error_code(kind, &code);
    MPI_Add_error_string(code, why.substr(0, MPI_MAX_ERROR_STRING - 1).c_str());
    MPI_Comm_call_errhandler(communicator_, code);
    throw Exception(SPTILE_STATUS_IO, why);
  }

  static void check(int status, const char* call) {
    if (status != MPI_SUCCESS)
      throw Exception(SPTILE_STATUS_IO, std::string(call) + " failed with " + std::to_string(status));
  }

  double seconds_;
  MPI_Comm communicator_ = MPI_COMM_NULL;
  std::int64_t rank_ = 0, size_ = 0;
  MPI_Request request_ = MPI_REQUEST_NULL;
  MPI_Datatype row_ = MPI_DATATYPE_NULL;
  Rows sent_, received_;
};

}  // namespace dist
}  // namespace v1
}  // namespace sptile
