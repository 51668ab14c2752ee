#include "core/sha256.hpp"

#include <openssl/evp.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace fourscore {
namespace {

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    check(context_ != nullptr && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
  }
  void add(const void* data, std::size_t bytes) { check(EVP_DigestUpdate(context_.get(), data, bytes) == 1); }
  std::string hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int length = 0;
    check(EVP_DigestFinal_ex(context_.get(), digest.data(), &length) == 1);
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (unsigned int i = 0; i < length; ++i) {
      text += digits[digest[i] >> 4U];
      text += digits[digest[i] & 15U];
    }
    return text;
  }

 private:
  static void check(bool ok) {
    if (!ok) throw std::runtime_error("SHA-256 is not provided by this OpenSSL");
  }
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

std::system_error unreadable(const std::filesystem::path& path) {
  return {errno, std::generic_category(), "cannot read " + path.string()};
}

File opened(const std::filesystem::path& path) {
  File file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) throw unreadable(path);
  return file;
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes.data(), bytes.size());
  return hash.hex();
}

std::string sha256_file(const std::filesystem::path& path) {
  const File file = opened(path);
  Sha256 hash;
  std::vector<char> block(1U << 16U);
  while (const std::size_t got = std::fread(block.data(), 1, block.size(), file.get())) hash.add(block.data(), got);
  if (std::ferror(file.get()) != 0) throw unreadable(path);
  return hash.hex();
}

std::string sha256_of_samples(const std::filesystem::path& path) {
  constexpr std::size_t block_bytes = 4096;
  constexpr std::size_t blocks = 64;
  const File file = opened(path);
  const std::size_t bytes = std::filesystem::file_size(path);
  Sha256 hash;
  const std::string size = std::to_string(bytes) + ";";
  hash.add(size.data(), size.size());
  std::array<char, block_bytes> block{};
  const std::size_t last = bytes > block_bytes ? bytes - block_bytes : 0;
  for (std::size_t i = 0; i < blocks; ++i) {
    if (std::fseek(file.get(), static_cast<long>(last * i / (blocks - 1)), SEEK_SET) != 0) throw unreadable(path);
    hash.add(block.data(), std::fread(block.data(), 1, block.size(), file.get()));
  }
  if (std::ferror(file.get()) != 0) throw unreadable(path);
  return "samples-sha256:" + hash.hex();
}

}  // namespace fourscore
