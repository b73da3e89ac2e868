// SHA-256 of bytes that arrive piece by piece.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace sptile::formats {

class Sha256 {
 public:
  Sha256();
  void update(const void* data, std::size_t bytes);
  /// Gives the digest in lower-case hex; the last call on an object.
  std::string finish();

 private:
  struct State;
  struct Free {
    void operator()(State* state) const;
  };
  std::unique_ptr<State, Free> state_;
};

}  // namespace sptile::formats
