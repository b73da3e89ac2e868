// Execution places: memory for operands, and timing.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

#include "formats/core/error.hpp"
#include "runtime/include/sptile.hpp"

namespace sptile::tools::batch {

/// Runs products in sequence on a stream of the place.
using Step = std::function<void(void* stream)>;

class Place {
 public:
  Place() = default;
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  virtual ~Place() = default;

  [[nodiscard]] virtual Device device() const = 0;
  /// Returns a copy of host memory that is valid until the place is destroyed.
  virtual void* put(const void* from, std::size_t bytes) = 0;
  /// Copy from and to host memory.
  virtual void write(void* to, const void* from, std::size_t bytes) = 0;
  virtual void read(void* to, const void* from, std::size_t bytes) = 0;
  /// Runs a step once and waits for it.
  virtual void run(const Step& step) = 0;
  /// Returns the median microseconds of a step that the host enqueues repeatedly.
  virtual double call_us(const Step& step) = 0;
  /// Returns the median microseconds of a step captured in a CUDA graph; nullopt on the host.
  virtual std::optional<double> graph_us(const Step& step) = 0;
};

std::unique_ptr<Place> host_place();

/// Returns CUDA device 0. Errc::device if there is none, or if sptile was built without CUDA.
Result<std::unique_ptr<Place>> cuda_place();

}  // namespace sptile::tools::batch
