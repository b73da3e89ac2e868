#include "tools/sha256.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

namespace sptile::tools {

Result<std::string> sha256_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail(Errc::io, std::strerror(errno), path);
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  bool ok = context != nullptr && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
  std::vector<char> block(1 << 20);
  while (ok && in) {
    in.read(block.data(), static_cast<std::streamsize>(block.size()));
    ok = EVP_DigestUpdate(context.get(), block.data(), static_cast<std::size_t>(in.gcount())) == 1;
  }
  std::array<unsigned char, 32> digest{};
  ok = ok && !in.bad() && EVP_DigestFinal_ex(context.get(), digest.data(), nullptr) == 1;
  if (!ok) return fail(Errc::io, "reading failed", path);
  std::string hex;
  for (const unsigned char byte : digest) hex += fmt::format("{:02x}", byte);
  return hex;
}

}  // namespace sptile::tools
