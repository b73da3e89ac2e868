// Checks of products with operands in device memory, on any streams.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sptile_dist.hpp"
#include "tests/dist/reference.hpp"

namespace sptile::test {

/// An array in device memory.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<T>& host) : array_(host.size()) {
    if (!host.empty()) copy(array_.data(), host.data(), cudaMemcpyHostToDevice);
  }
  [[nodiscard]] T* data() { return array_.data(); }
  [[nodiscard]] const T* data() const { return array_.data(); }
  [[nodiscard]] std::span<T> span() { return {array_.data(), array_.size()}; }
  /// Copies to the host after the work of the default stream.
  [[nodiscard]] std::vector<T> to_host() const {
    std::vector<T> host(array_.size());
    if (!host.empty()) copy(host.data(), array_.data(), cudaMemcpyDeviceToHost);
    return host;
  }

 private:
  void copy(void* to, const void* from, cudaMemcpyKind kind) const {
    dist::detail::check(cudaMemcpy(to, from, array_.size() * sizeof(T), kind), "cudaMemcpy");
    // The copy may be in flight, and other streams do not wait for the default one.
    dist::detail::check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
  }

  dist::detail::CudaArray<T, false> array_;
};

/// Operands of one product, and its stream.
template <class T>
class DeviceOperands {
 public:
  explicit DeviceOperands(const std::vector<T>& b)
      : host_(b), b_(std::vector<T>(b.size(), T(-7))), c_(std::vector<T>(b.size(), T(-7))) {}

  /// Enqueues a delayed copy of B, then run(b, c, stream).
  template <class Run>
  void start(const Run& run) {
    if (!host_.empty())
      dist::detail::check(cudaMemcpyAsync(b_.data(), host_.data(), host_.size() * sizeof(T),
                                          cudaMemcpyHostToDevice, stream_.get()),
                          "cudaMemcpyAsync");
    run(std::span<const T>(b_.span()), c_.span(), stream_.get());
  }

  /// Returns C, after the caller has synchronized.
  [[nodiscard]] std::vector<T> result() const { return c_.to_host(); }

 private:
  std::vector<T> host_;
  DeviceArray<T> b_, c_;
  dist::detail::CudaStream stream_;
};

/// Checks A B and A^T B, in sequence and two at a time, and the number of bytes that they send.
template <class T, class Product>
void check_device_product(Product& product, const Reference<T>& forward, const Reference<T>& transposed,
                          double tolerance = tolerance_of<T>) {
  const std::int64_t n = forward.n();
  const auto run = [&](auto b, auto c, auto stream) { product.run(b, c, stream); };
  const auto run_transposed = [&](auto b, auto c, auto stream) { product.run_transposed(b, c, stream); };
  const auto through_device = [&](const auto& way) {
    return [&product, &way](const std::vector<T>& b, std::vector<T>& c) {
      DeviceOperands<T> operands(b);
      operands.start(way);
      product.wait();
      c = operands.result();
    };
  };
  const std::int64_t before = product.bytes_sent();
  compare("A B", forward, through_device(run), tolerance);
  compare("A^T B", transposed, through_device(run_transposed), tolerance);

  const std::vector<T> b = rows_of_b<T>(product.old_ids(), n);
  DeviceOperands<T> one(b), other(std::vector<T>(b.size(), T(0)));
  one.start(run);
  other.start(run);
  product.wait();
  forward.compare("A B beside another", one.result(), tolerance);
  if (other.result() != std::vector<T>(b.size(), T(0))) fail("A 0 beside another is not 0");

  const Part& part = product.part();
  const auto row = static_cast<std::int64_t>(sizeof(T)) * n;
  const std::int64_t there = part.send_offset().back() * row, back = part.receive_offset().back() * row;
  const std::int64_t wanted = product.fell_back() ? 0 : 4 * there + 2 * (part.symmetric() ? there : back);
  if (product.bytes_sent() - before != wanted)
    fail("six runs sent " + std::to_string(product.bytes_sent() - before) + " bytes, not " +
         std::to_string(wanted));
}

/// Checks a product that is captured when its operand is 0, and replayed with another, alone and between
/// other runs.
template <class T, class Capture>
void check_captured(const std::string& what, const Reference<T>& reference, const Capture& capture,
                    double tolerance) {
  const std::vector<T> host = rows_of_b<T>(reference.ids(), reference.n()), zeros(host.size(), T(0));
  DeviceArray<T> b(zeros), c(std::vector<T>(host.size(), T(-7)));
  const dist::detail::CudaStream stream;
  auto [captured, run, wait] = capture(std::span<const T>(b.span()), c.span(), stream.get());
  if (c.to_host() != zeros) fail(what + " of 0 is not 0 when it is captured");
  DeviceOperands<T> other(host);
  for (int i = 0; i < 3; ++i) {
    const std::vector<T>& now = i == 1 ? zeros : host;
    if (!now.empty())
      dist::detail::check(
          cudaMemcpyAsync(b.data(), now.data(), now.size() * sizeof(T), cudaMemcpyHostToDevice, stream.get()),
          "cudaMemcpyAsync");
    if (i == 2) other.start(run);
    captured.run(stream.get());
    if (i == 1) other.start(run);
    wait();
    if (i == 1 && c.to_host() != zeros) fail(what + " of 0 is not 0 when it is replayed");
    if (i != 1) reference.compare(what + " replayed", c.to_host(), tolerance);
    if (i > 0) reference.compare(what + " next to a replay", other.result(), tolerance);
  }
}

/// Checks captured products A B and A^T B, and the number of bytes that they send.
template <class T, class Product>
void check_captured_product(Product& product, const Reference<T>& forward, const Reference<T>& transposed,
                            double tolerance = tolerance_of<T>) {
  using Captured = typename Product::Captured;
  using Run = std::function<void(std::span<const T>, std::span<T>, void*)>;
  struct Ways {
    Captured captured;
    Run run;
    std::function<void()> wait;
  };
  const auto wait = [&] { product.wait(); };
  const std::int64_t before = product.bytes_sent();
  check_captured(
      "captured A B", forward,
      [&](auto b, auto c, void* stream) {
        return Ways{product.capture(b, c, stream), [&](auto x, auto y, void* on) { product.run(x, y, on); },
                    wait};
      },
      tolerance);
  const std::int64_t there = product.bytes_sent() - before,
                     row = static_cast<std::int64_t>(sizeof(T)) * forward.n();
  const std::int64_t wanted = product.fell_back() ? 0 : 6 * product.part().send_offset().back() * row;
  if (there != wanted)
    fail("a capture and five runs sent " + std::to_string(there) + " bytes, not " + std::to_string(wanted));
  check_captured(
      "captured A^T B", transposed,
      [&](auto b, auto c, void* stream) {
        return Ways{product.capture_transposed(b, c, stream),
                    [&](auto x, auto y, void* on) { product.run_transposed(x, y, on); }, wait};
      },
      tolerance);
}

/// Checks that rows for other parts are copied exactly, and added in the order of senders. M: memory of the
/// plans, see CudaMemory.
template <class T, class M>
void check_selected_rows(const Part& part, std::int64_t n) {
  M memory;
  const typename M::template SentRows<T> rows(memory, part, n, true);
  const std::vector<T> b = rows_of_b<T>(part.old_ids(), n);
  std::vector<T> wanted;
  for (const std::int32_t row : part.send_rows())
    wanted.insert(wanted.end(), b.begin() + row * n, b.begin() + (row + 1) * n);
  DeviceArray<T> own(b), others(std::vector<T>(wanted.size(), T(-7)));
  rows.gather(own.data(), others.data(), nullptr);
  if (others.to_host() != wanted) fail("rows for others are not those of B, to the bit");

  std::vector<T> sums(b.size(), T(0)), added;
  for (std::size_t i = 0; i < part.send_rows().size(); ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      added.push_back(number<T>(static_cast<std::int64_t>(i), j));
      sums[static_cast<std::size_t>(part.send_rows()[i] * n + j)] += added.back();
    }
  DeviceArray<T> arrived(added), c(std::vector<T>(b.size(), T(0)));
  rows.add(arrived.data(), c.data(), nullptr);
  if (c.to_host() != sums) fail("rows of others are not added in the order of senders");
}

}  // namespace sptile::test
