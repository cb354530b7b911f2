// Block scratch: the shared memory of a block as a stack. What a scope takes, its end gives back; offsets are constants after inlining.
#pragma once

#include <cuda/std/cstddef>

#include <tessera/config.hpp>

namespace tessera::inline v0_1 {

// Every piece starts at a multiple of this, so that 16-byte accesses are possible.
inline constexpr int scratch_alignment = 16;

// The stack pointer of a block's scratch; the same value on every lane. Part of a block; `Block::scratch_overflow` reports a lack.
class scratch_stack {
 public:
  TESSERA_TILE constexpr explicit scratch_stack(cuda::std::byte* base) : base_(base) {}
  TESSERA_TILE constexpr cuda::std::byte* base() const { return base_; }
  TESSERA_TILE constexpr int used() const { return used_; }
  TESSERA_TILE constexpr void set_used(int bytes) { used_ = bytes; }

 private:
  cuda::std::byte* base_;
  int used_ = 0;
};

// `Count` uninitialised elements in the block's scratch, for as long as the object lives. Called by every lane. The first write must come
// after block.sync(): other lanes may still read what lay there before.
template <class T, int Count, class Block>
class scratch_array {
 public:
  static constexpr long long bytes =
      (static_cast<long long>(sizeof(T)) * Count + scratch_alignment - 1) / scratch_alignment * scratch_alignment;
  static_assert(bytes <= Block::scratch_bytes,
                "this needs more shared memory than the block's scratch holds: give the launch more, launch_tiled<threads, scratch_bytes>");

  TESSERA_TILE explicit scratch_array(Block& block) : block_(block), before_(block.scratch().used()) {
    if (before_ + static_cast<int>(bytes) > Block::scratch_bytes) block.scratch_overflow(before_ + static_cast<int>(bytes));
    block.scratch().set_used(before_ + static_cast<int>(bytes));
  }
  TESSERA_TILE ~scratch_array() { block_.scratch().set_used(before_); }
  scratch_array(scratch_array const&) = delete;
  scratch_array& operator=(scratch_array const&) = delete;

  TESSERA_TILE T* data() const { return reinterpret_cast<T*>(block_.scratch().base() + before_); }
  TESSERA_TILE T& operator[](int i) const { return data()[i]; }

 private:
  Block& block_;
  int before_;
};

}  // namespace tessera::inline v0_1
