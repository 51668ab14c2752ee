#pragma once
// What the driver tells of a GPU through NVML, which is loaded when it is asked: without it nothing is known.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace fourscore::cuda {

/// bus_id: of the PCI bus, as "0000:3B:00.0". What can be read of: driver, ecc, pcie_generation, pcie_width.
[[nodiscard]] nlohmann::json nvml_identity(const std::string& bus_id);
/// What can be read of: sm_clock_mhz, memory_clock_mhz, temperature_c, power_w, and the link as it is now:
/// pcie_generation, pcie_width.
[[nodiscard]] nlohmann::json nvml_state(const std::string& bus_id);

}  // namespace fourscore::cuda
