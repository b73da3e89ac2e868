// Owning arrays without the zero fill of std::vector: conversions overwrite every element.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "formats/core/array_view.hpp"

namespace sptile::formats {

/// Returns the whole pages between the two addresses to the system. Their contents are lost.
void release_pages(void* begin, void* end);

/// Thrown when the system refuses to allocate an array.
class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(std::uint64_t bytes) noexcept;
  [[nodiscard]] const char* what() const noexcept override { return text_.data(); }

 private:
  std::array<char, 80> text_{};
};

/// Returns "out of memory", followed by the size of the array if `error` is an OutOfMemory.
const char* out_of_memory(const std::bad_alloc& error) noexcept;

/// Owns `size` uninitialized, 64-byte aligned elements; throws OutOfMemory (exit code 5 of the command).
/// Large buffers request huge pages: page faults on first touch otherwise cost as much time as filling them.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  explicit Buffer(std::int64_t size);
  Buffer(Buffer&& other) noexcept : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    data_ = std::move(other.data_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] T* data() { return data_.get(); }
  [[nodiscard]] const T* data() const { return data_.get(); }
  T& operator[](std::int64_t i) { return data_.get()[i]; }
  const T& operator[](std::int64_t i) const { return data_.get()[i]; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  [[nodiscard]] std::span<T> span() { return {data(), static_cast<std::size_t>(size_)}; }
  [[nodiscard]] std::span<const T> span() const { return {data(), static_cast<std::size_t>(size_)}; }

  /// Keeps the first `size` elements (size <= size()) and all of the memory.
  void truncate(std::int64_t size) { size_ = size; }

  /// Keeps the first `size` elements and returns the whole pages after them to the system.
  void shrink(std::int64_t size) {
    release_pages(data() + size, data() + size_);
    size_ = size;
  }

  /// Moves the memory into a buffer of bytes, without copying.
  [[nodiscard]] Buffer<std::byte> into_bytes() && {
    Buffer<std::byte> bytes;
    bytes.size_ = std::exchange(size_, 0) * static_cast<std::int64_t>(sizeof(T));
    bytes.data_.reset(reinterpret_cast<std::byte*>(data_.release()));
    return bytes;
  }

 private:
  template <class U>
  friend class Buffer;

  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  std::unique_ptr<T[], Free> data_;
  std::int64_t size_ = 0;
};

/// Allocates 64-byte aligned memory; large allocations are 2 MiB aligned and request huge pages. Throws
/// OutOfMemory.
void* allocate_bytes(std::int64_t bytes);

template <class T>
Buffer<T>::Buffer(std::int64_t size) : size_(size) {
  if (size < 0 || static_cast<std::uint64_t>(size) > std::uint64_t{1} << 46)
    throw OutOfMemory(static_cast<std::uint64_t>(size) * sizeof(T));
  if (size > 0) data_.reset(static_cast<T*>(allocate_bytes(size * static_cast<std::int64_t>(sizeof(T)))));
}

/// Owns an array whose element type is known at run time. A default-constructed Array is absent.
class Array {
 public:
  Array() = default;
  Array(DType dtype, std::int64_t size)
      : dtype_(dtype), bytes_(size * static_cast<std::int64_t>(size_of(dtype))), size_(size) {}
  /// Takes over existing memory as elements of type `dtype`.
  Array(DType dtype, Buffer<std::byte>&& bytes)
      : dtype_(dtype),
        bytes_(std::move(bytes)),
        size_(bytes_.size() / static_cast<std::int64_t>(size_of(dtype))) {}
  template <class T>
  requires(dtype_of<T> != DType::none) explicit Array(Buffer<T>&& typed)
      : dtype_(dtype_of<T>), size_(typed.size()) {
    bytes_ = std::move(typed).into_bytes();
  }

  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] bool present() const { return dtype_ != DType::none; }
  [[nodiscard]] void* data() { return bytes_.data(); }
  [[nodiscard]] const void* data() const { return bytes_.data(); }
  /// Keeps the first `size` elements (size <= size()) and all of the memory.
  void truncate(std::int64_t size) {
    size_ = size;
    bytes_.truncate(size * static_cast<std::int64_t>(size_of(dtype_)));
  }
  [[nodiscard]] ArrayView view() const { return {dtype_, bytes_.data(), size_}; }
  template <class T>
  [[nodiscard]] std::span<T> as() {
    assert(dtype_ == dtype_of<T>);
    return {reinterpret_cast<T*>(bytes_.data()), static_cast<std::size_t>(size_)};
  }
  template <class T>
  [[nodiscard]] std::span<const T> as() const {
    return view().as<T>();
  }

 private:
  DType dtype_ = DType::none;
  Buffer<std::byte> bytes_;
  std::int64_t size_ = 0;
};

}  // namespace sptile::formats
