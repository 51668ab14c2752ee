#pragma once
// The sizes of a suite: one file measures the same at home ("here") and as a paper did ("paper").

#include <functional>
#include <string>

#include "jobscripts/suites/suite.hpp"
#include "jobscripts/suites/suite_reader.hpp"

namespace fourscore {

/// Reads `sizes` and chooses: `asked` (--size), or where that is empty the first. A suite of another size than the
/// first is called NAME-SIZE. Throws InputError for a size that the suite lacks, naming those that it has.
void read_sizes(const SuiteReader& reader, const toml::table& table, const std::string& asked, Suite& suite);

/// Calls `read` for each [size.NAME], with whether it is the chosen one. Throws InputError for one that is not in
/// `sizes`, and for keys other than `keys`.
void for_each_size(const SuiteReader& reader, const toml::table& table, const Suite& suite,
                   const std::vector<std::string>& keys,
                   const std::function<void(const toml::table& settings, bool chosen)>& read);

/// Whether a [[sweep]] or [[component]] belongs to the chosen size: one without `size` belongs to all.
[[nodiscard]] bool is_of_chosen_size(const SuiteReader& reader, const toml::table& table, const Suite& suite);

}  // namespace fourscore
