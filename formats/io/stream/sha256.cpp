// Uses the deprecated functions, because the newer ones look up algorithms under locks. A process forked
// during such a lookup would find them locked forever.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "formats/io/stream/sha256.hpp"

#include <openssl/sha.h>

#include <array>

namespace sptile::formats {

struct Sha256::State {
  SHA256_CTX context;
};

void Sha256::Free::operator()(State* state) const { delete state; }

Sha256::Sha256() : state_(new State) { SHA256_Init(&state_->context); }

void Sha256::update(const void* data, std::size_t bytes) { SHA256_Update(&state_->context, data, bytes); }

std::string Sha256::finish() {
  constexpr const char* kHex = "0123456789abcdef";
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256_Final(digest.data(), &state_->context);
  std::string text;
  for (const unsigned char byte : digest) {
    text += kHex[byte >> 4];
    text += kHex[byte & 15];
  }
  return text;
}

}  // namespace sptile::formats
