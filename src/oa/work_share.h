// Turns a span of work into what it adds to the A counters.
#pragma once

#include "oa/domain.h"
#include "oa/flexible_events.h"
#include "oa/work_counts.h"

namespace halogen::oa {

// `clocks`: of the span. `rests`: what the integrators of the flexible events have left over.
Share share_of(const WorkSpan& span, ClockRange clocks, const FlexibleEvents& events, const EuArray& array,
               IntegratorRests& rests);

}  // namespace halogen::oa
