#include "harness/loaded_libraries.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstddef>
#include <cstring>
#include <exception>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "core/sha256.hpp"

namespace fourscore {
namespace {

namespace fs = std::filesystem;

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return text;
}

constexpr std::size_t padded(std::size_t bytes) { return (bytes + 3) / 4 * 4; }

/// The build id among the notes of a segment; empty where there is none.
std::string build_id_in(std::span<const std::byte> notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes.data(), sizeof(header));
    const std::size_t name_at = sizeof(header);
    const std::size_t text_at = name_at + padded(header.n_namesz);
    const std::size_t end = text_at + padded(header.n_descsz);
    if (end > notes.size()) break;
    const std::string_view name(reinterpret_cast<const char*>(notes.data() + name_at), header.n_namesz);
    if (header.n_type == NT_GNU_BUILD_ID && name == std::string_view("GNU", 4))
      return hex(notes.subspan(text_at, header.n_descsz));
    notes = notes.subspan(end);
  }
  return {};
}

std::string build_id_of(const dl_phdr_info& object) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto& segment = object.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* begin = reinterpret_cast<const std::byte*>(object.dlpi_addr + segment.p_vaddr);
    if (std::string id = build_id_in({begin, segment.p_memsz}); !id.empty()) return id;
  }
  return {};
}

using Libraries = std::map<std::string, std::string>;

/// The program itself has no name here, the kernel's page no file.
int add_object(dl_phdr_info* object, std::size_t /*bytes*/, void* list) {
  const fs::path path = object->dlpi_name == nullptr ? "" : object->dlpi_name;
  const std::string name = path.filename().string();
  if (name.empty() || name.starts_with("linux-vdso") || name.starts_with("linux-gate") ||
      name.starts_with("vgpreload_"))
    return 0;
  try {
    std::error_code error;
    const fs::path file = fs::canonical(path, error);
    std::string id = build_id_of(*object);
    id = id.empty() ? "sha256:" + sha256_file(error ? path : file) : "build-id:" + id;
    static_cast<Libraries*>(list)->emplace(name, (error ? name : file.filename().string()) + " " + id);
  } catch (const std::exception&) {
    // A file that is there no more, and has no build id: said to be there, and no more than that.
    static_cast<Libraries*>(list)->emplace(name, name + " unknown");
  }
  return 0;
}

Libraries collect() {
  Libraries list;
  ::dl_iterate_phdr(add_object, &list);
  return list;
}

/// Before main(): what comes later is loaded by hand.
const Libraries at_start = collect();

}  // namespace

const std::map<std::string, std::string>& libraries_loaded_at_start() { return at_start; }
std::map<std::string, std::string> libraries_loaded_now() { return collect(); }

}  // namespace fourscore
