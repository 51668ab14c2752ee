#include "program/wisdom.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>

#include "core/regular_file.hpp"
#include "core/sha256.hpp"
#include "mpi/broadcast.hpp"
#include "mpi/error.hpp"
#include "results/output_file.hpp"
#include "results/wisdom_file.hpp"

namespace fourscore::bench {
namespace fs = std::filesystem;

namespace {

constexpr const char* writable_place = "expected a place for the wisdom file that can be written";

InputError unusable(const fs::path& file, const std::string& reason) {
  return InputError(fmt::format("wisdom file {} cannot be used: {}", file.string(), reason));
}

/// Before anything is planned: would the file find its place?
void check_place(const fs::path& file) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    throw InputError(fmt::format("cannot write {}: {}; {}", file.string(), std::strerror(errno), writable_place));
}

/// The order of lines tells nothing: FFTW writes its plans in that of a hash table.
std::set<std::string> lines_of(const std::string& text) {
  std::set<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.insert(line);
  return lines;
}

}  // namespace

Wisdom::Wisdom(MPI_Comm comm, Agreement& agreement, const LocalFftLibrary& library, fs::path file,
               const PlanPlace& place)
    : comm_(comm), agreement_(agreement), library_(library), file_(std::move(file)) {
  owner_on_machine_ = fmt::format("{} {} on {}", library.card().name, library.version(), place.machine);
  owner_ = fmt::format("{} with {}", owner_on_machine_, place.ranks_of_node);
  agreement_.run_on_root([&] { section_ = read_section(); });
  section_ = mpi::broadcast_text(comm_, 0, std::move(section_));
  import_section(section_);
  before_ = lines_of(library_.export_wisdom());
}

std::string Wisdom::read_section() {
  std::error_code error;
  // A device may have no end, and a FIFO no writer.
  if (is_there(file_) && !fs::is_regular_file(file_, error))
    throw unusable(file_, "it is no regular file; expected one, or a new name");
  check_place(file_);
  check_output(file_);
  if (!is_there(file_)) return {};
  try {
    const std::string text = read_regular_file(file_).text;
    WisdomFile whole = parse_wisdom_file(text);
    sha256_ = sha256_hex(text);
    ignored_ = whole.damage;
    const auto mine = whole.sections.find(owner_);
    if (mine != whole.sections.end()) return mine->second;
    if (ignored_.empty()) ignored_ = why_none(whole.sections);
    return {};
  } catch (const UnreadableFile& problem) {
    throw unusable(file_, problem.what());
  } catch (const NoWisdomFile& problem) {
    throw unusable(file_, problem.what());
  }
}

/// Plans of this library, but of another version or machine only, were perhaps meant to be used. Those of other
/// libraries, and of other numbers of ranks on this machine, are not.
std::string Wisdom::why_none(const std::map<std::string, std::string>& sections) const {
  const std::string name = library_.card().name + ' ';
  std::string other;
  for (const auto& [owner, text] : sections) {
    if (owner.starts_with(owner_on_machine_)) return {};
    if (owner.starts_with(name)) other = owner;
  }
  return other.empty() ? std::string() : fmt::format("it has plans of {}, none of {}", other, owner_);
}

/// A rank that cannot use the section plans anew, as ranks without a section do.
void Wisdom::import_section(const std::string& text) {
  if (text.empty()) return;
  try {
    library_.import_wisdom(text, "its section '" + owner_ + "'");
  } catch (const InputError& error) {
    if (ignored_.empty()) ignored_ = error.what();
  }
}

void Wisdom::save() {
  int anew = lines_of(library_.export_wisdom()) == before_ ? 0 : 1;
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &anew, 1, MPI_INT, MPI_MAX, comm_));
  reused_ = anew == 0;
  if (reused_) return;
  agreement_.run([&] { gather(); });
  agreement_.run_on_root([&] { write(); });
}

/// Ranks of unequal blocks plan unequal work. A tree: each rank takes in what up to log2 P others know, and hands the
/// whole on. What it knew itself comes before that.
void Wisdom::gather() {
  const int me = mpi::rank_in(comm_);
  const int ranks = mpi::size_of(comm_);
  constexpr int tag = 1;
  for (int distance = 1; distance < ranks; distance *= 2) {
    if (me % (2 * distance) != 0) {
      const std::string text = library_.export_wisdom();
      FOURSCORE_MPI(MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, me - distance, tag, comm_));
      return;
    }
    if (me + distance >= ranks) continue;
    MPI_Status status;
    int length = 0;
    FOURSCORE_MPI(MPI_Probe(me + distance, tag, comm_, &status));
    FOURSCORE_MPI(MPI_Get_count(&status, MPI_CHAR, &length));
    std::string text(static_cast<std::size_t>(length), '\0');
    FOURSCORE_MPI(MPI_Recv(text.data(), length, MPI_CHAR, me + distance, tag, comm_, MPI_STATUS_IGNORE));
    const std::string own = library_.export_wisdom();
    import_section(text);
    import_section(own);
  }
}

void Wisdom::write() {
  try {
    update_wisdom_file(file_, [&](std::map<std::string, std::string>& sections) {
      std::string& mine = sections[owner_];
      if (mine != section_) import_section(mine);
      mine = library_.export_wisdom();
    });
  } catch (const OutputFailed& error) {
    throw InputError(fmt::format("{}; {}", error.what(), writable_place));
  } catch (const UnreadableFile& problem) {
    throw unusable(file_, problem.what());
  } catch (const NoWisdomFile& problem) {
    throw unusable(file_, problem.what());
  }
}

}  // namespace fourscore::bench
