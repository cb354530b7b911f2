// expect: field: the member belongs to the view's element type
#include <tessera/tessera.hpp>

using namespace tessera;

struct particle {
  float mass;
};
struct other {
  float mass;
};

void use(view<particle, 1> particles) {
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  (void)field(particles, &particle::mass);
#else
  (void)field(particles, &other::mass);
#endif
}
