#pragma once
// Standard input, output and error of a program that was started without some of them.

namespace fourscore {

/// Opens /dev/null where one of the descriptors 0 to 2 is closed. Else the next file that the program opens takes its
/// number, and what is meant for the screen is written into that file. First thing in main().
void open_standard_files();

}  // namespace fourscore
