// Incremental SHA-256.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace sptile::formats {

class Sha256 {
 public:
  Sha256();
  void update(const void* data, std::size_t bytes);
  /// Returns the digest in lower-case hex; must be the last call.
  std::string finish();

 private:
  struct State;
  struct Free {
    void operator()(State* state) const;
  };
  std::unique_ptr<State, Free> state_;
};

}  // namespace sptile::formats
