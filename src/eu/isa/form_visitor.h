// Maps the kind of an operation to its form. Decoder and encoder implement one function for each form. Those functions
// may be private if visit_form() is a friend.
#pragma once

#include "eu/isa/tables.h"

namespace halogen::eu {

template <class Forms>
void visit_form(Kind kind, Forms& forms) {
  switch (kind) {
    case Kind::nothing:
    case Kind::macro:
      return;
    case Kind::basic:
      return forms.two_sources();
    case Kind::wide:
      return forms.wide_immediate();
    case Kind::math:
      return forms.math();
    case Kind::sync:
      return forms.sync();
    case Kind::ternary:
    case Kind::ternary_macro:
      return forms.three_sources();
    case Kind::branch:
      return forms.branch();
    case Kind::diverge:
      return forms.diverge();
    case Kind::jump:
      return forms.jump();
    case Kind::send:
      return forms.send();
    case Kind::split_send:
      return forms.split_send();
  }
}

}  // namespace halogen::eu
