#pragma once
// Text that others wrote, made safe for a terminal.

#include <cstddef>
#include <string>
#include <string_view>

namespace fourscore {

/// `text` with every control character (C0, DEL, C1, marks that change the direction of writing, line separators) and
/// every byte that is no UTF-8 as an escape: \n, \t, \x1b, \u009b, \u202e. A record can then neither move the cursor
/// nor hide what stands on the line.
[[nodiscard]] std::string printable(std::string_view text);

/// At most the first `bytes` bytes of the text, printable; no character is cut in two.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t bytes);

}  // namespace fourscore
