// Scheduling of threads that react to events.
#pragma once

namespace tern::server {

// Asks the kernel for time slices of 0.1 ms for the calling thread. The thread then runs soon after an event
// even if other threads occupy all cores. Its share of the processor time does not change. Has an effect on
// Linux 6.12 and newer.
void UseShortSlices();

}  // namespace tern::server
