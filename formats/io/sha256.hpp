// SHA-256 of bytes that arrive piece by piece.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

struct evp_md_ctx_st;

namespace sptile::formats {

class Sha256 {
 public:
  Sha256();
  void update(const void* data, std::size_t bytes);
  /// Gives the digest in lower-case hex; the last call on an object.
  std::string finish();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

}  // namespace sptile::formats
