// What a kernel and its launch need, for a C++ compiler: tiles, the host backend, deterministic scatter. Whole arrays
// (`device/host_*.hpp`), f16 (`half.hpp`) and `verify/` are included by themselves.
#pragma once

#include <tessera/arithmetic.hpp>
#include <tessera/config.hpp>
#include <tessera/determinism.hpp>
#include <tessera/dyadic.hpp>
#include <tessera/error.hpp>
#include <tessera/launch/host_backend.hpp>
#include <tessera/scatter/host_target.hpp>
#include <tessera/tile/atomic_add.hpp>
#include <tessera/tile/fill.hpp>
#include <tessera/tile/load.hpp>
#include <tessera/tile/load_indexed.hpp>
#include <tessera/tile/map.hpp>
#include <tessera/tile/reduce.hpp>
#include <tessera/tile/scan.hpp>
#include <tessera/tile/store.hpp>
#include <tessera/view.hpp>
