// Units that follow the contexts of engines, for example the page tables.
#pragma once

#include "engine/services.h"

namespace halogen::device {

class ContextListener {
 public:
  virtual ~ContextListener() = default;
  virtual void on_context_switch(unsigned engine, const engine::ContextStep& step) = 0;
};

}  // namespace halogen::device
