// How a warp's rows come from memory and go there: 16 bytes a lane where the array is contiguous, whatever its alignment, and element by
// element elsewhere. Positions count in the scan's direction.
#pragma once

#include <cuda/std/bit>
#include <cuda/std/cstdint>
#include <cuda/std/type_traits>

#include <tessera/accumulate.hpp>
#include <tessera/config.hpp>
#include <tessera/group/shuffle.cuh>
#include <tessera/source.hpp>
#include <tessera/tile/scan.hpp>
#include <tessera/view.hpp>

namespace tessera::inline v0_1::detail {

struct alignas(16) vector_bytes {
  unsigned word[4];
};

// From aligned addresses, and to those of global memory; where the compiler cannot see that they are aligned, it copies a struct in parts.
__device__ __forceinline__ vector_bytes load_vector(void const* from) {
  return cuda::std::bit_cast<vector_bytes>(*static_cast<uint4 const*>(from));
}
__device__ __forceinline__ void store_vector(void* to, vector_bytes const& bits) {
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};"
               :
               : "l"(__cvta_generic_to_global(to)), "r"(bits.word[0]), "r"(bits.word[1]), "r"(bits.word[2]), "r"(bits.word[3])
               : "memory");
}

// The 16 bytes that begin `Words` words and `rest` (0 .. 3) bytes into `low`, `high` being the 16 behind it.
template <int Words>
__device__ __forceinline__ vector_bytes bytes_at(vector_bytes const& low, vector_bytes const& high, unsigned rest) {
  vector_bytes out;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    unsigned const word = i + Words < 4 ? low.word[(i + Words) % 4] : high.word[(i + Words) % 4];
    unsigned const next = i + Words + 1 < 4 ? low.word[(i + Words + 1) % 4] : high.word[(i + Words + 1) % 4];
    out.word[i] = __funnelshift_r(word, next, 8 * rest);
  }
  return out;
}

// use(Words, rest) for a skew in bytes, not 0, Words a constant, the rest too where elements of `Bytes` bytes have none: the same for all
// lanes.
template <int Bytes, class Use>
__device__ __forceinline__ void with_skew(unsigned skew, Use const& use) {
  unsigned const rest = Bytes % 4 == 0 ? 0u : skew & 3u;
  if constexpr (Bytes == 8) {
    use(cuda::std::integral_constant<int, 2>{}, rest);
  } else {
    switch (skew / 4) {
      case 1: return use(cuda::std::integral_constant<int, 1>{}, rest);
      case 2: return use(cuda::std::integral_constant<int, 2>{}, rest);
      case 3: return use(cuda::std::integral_constant<int, 3>{}, rest);
      default:
        if constexpr (Bytes < 4) use(cuda::std::integral_constant<int, 0>{}, rest);
    }
  }
}

// What a source keeps in memory, and the value that an element of it stands for; `memory_type` is void where only source(i) can tell.
template <class S>
struct source_memory {
  using memory_type = void;
};
template <class T>
struct source_memory<view<T, 1>> {
  using memory_type = cuda::std::remove_const_t<T>;
  __host__ __device__ __forceinline__ static auto const& array(view<T, 1> const& s) { return s; }
  __device__ __forceinline__ static memory_type const& value(view<T, 1> const&, memory_type const& element) { return element; }
};
template <class Function, class T>
struct source_memory<transformed_source<Function, view<T, 1>>> {
  using memory_type = cuda::std::remove_const_t<T>;
  using source_type = transformed_source<Function, view<T, 1>>;
  __host__ __device__ __forceinline__ static auto const& array(source_type const& s) { return s.first_source(); }
  __device__ __forceinline__ static auto value(source_type const& s, memory_type const& element) { return s.apply(element); }
};

// Whether 16 bytes hold a power of two of a source's elements.
template <class S>
inline constexpr bool has_vectors = [] {
  using memory_type = typename source_memory<S>::memory_type;
  if constexpr (cuda::std::is_void_v<memory_type>) {
    return false;
  } else {
    return cuda::std::is_trivially_copyable_v<memory_type> && sizeof(memory_type) <= 16 && 16 % sizeof(memory_type) == 0;
  }
}();

// Elements that a lane takes of a row: 16 bytes of what is in memory, else of what is computed.
template <class S, class T>
inline constexpr int lane_width = [] {
  if constexpr (has_vectors<S>) {
    return static_cast<int>(16 / sizeof(typename source_memory<S>::memory_type));
  } else {
    return static_cast<int>(sizeof(T) >= 16 ? 1 : 16 / cuda::std::bit_ceil(sizeof(T)));
  }
}();

template <class T>
struct packed_elements {
  T element[16 / sizeof(T)];
};

// Whether a source's elements lie one behind the other, each at a multiple of its size.
template <class S>
bool is_contiguous(S const& s) {
  if constexpr (has_vectors<S>) {
    auto const& array = source_memory<S>::array(s);
    constexpr auto size = sizeof(*array.data_handle());
    return reinterpret_cast<cuda::std::uintptr_t>(array.data_handle()) % size == 0 &&
           (array.extent(0) <= 1 || array.mapping().byte_stride(0) == static_cast<cuda::std::int64_t>(size));
  } else {
    return false;
  }
}

// Where the elements of a tile lie, positions first .. first + size - 1 of an array of `count` elements. `lowest` is the address of the one
// that comes first in memory, in the array itself or in a copy; `complete` says that all 16-byte pieces of the tile may be read there. Else
// its elements are asked of the source.
struct tile_place {
  cuda::std::int64_t count, first;
  char const* lowest;
  int size;
  bool complete;
};

// The tile from position `first` on, in the array.
template <scan_direction Direction, class S>
__device__ __forceinline__ tile_place place_of(S const& source, cuda::std::int64_t count, bool contiguous, cuda::std::int64_t first,
                                               int size) {
  tile_place place{count, first, nullptr, size, false};
  if constexpr (has_vectors<S>) {
    if (contiguous) {
      auto const* const begin = reinterpret_cast<char const*>(source_memory<S>::array(source).data_handle());
      constexpr cuda::std::int64_t bytes = sizeof(typename source_memory<S>::memory_type);
      place.lowest = begin + (Direction == forward ? first : count - first - size) * bytes;
      // Its 16-byte pieces lie in the array where the tile lies between the first and the last 16-byte boundary in it.
      using address = cuda::std::uintptr_t;
      auto const array = reinterpret_cast<address>(begin), tile = reinterpret_cast<address>(place.lowest);
      address const array_end = array + static_cast<address>(count * bytes), tile_end = tile + static_cast<address>(size * bytes);
      place.complete = tile >= ((array + 15u) & ~address{15}) && tile_end <= (array_end & ~address{15});
    }
  }
  return place;
}

// How many tiles, from the first, lie in aligned 16-byte pieces of the array: all whole ones or none.
template <scan_direction Direction, class S>
cuda::std::int64_t aligned_tiles(S const& source, cuda::std::int64_t count, bool contiguous, int size) {
  if constexpr (has_vectors<S>) {
    auto const* const begin = source_memory<S>::array(source).data_handle();
    auto const first = reinterpret_cast<cuda::std::uintptr_t>(Direction == forward ? begin : begin + count);
    return contiguous && first % 16 == 0 ? count / size : 0;
  } else {
    return 0;
  }
}
// One of them.
template <scan_direction Direction, class S>
__device__ __forceinline__ tile_place aligned_place_of(S const& source, cuda::std::int64_t count, cuda::std::int64_t first, int size) {
  auto const* const begin = source_memory<S>::array(source).data_handle();
  return {count, first, reinterpret_cast<char const*>(begin + (Direction == forward ? first : count - first - size)), size, true};
}

// How many elements an array has from position `from` on, as far as a tile reaches.
__device__ __forceinline__ int elements_left(cuda::std::int64_t count, cuda::std::int64_t from) {
  return static_cast<int>(min(count - from, cuda::std::int64_t{1 << 30}));
}

// Reads a tile of a source, converted to T.
template <scan_direction Direction, class T, class S>
class tile_reader {
 public:
  static constexpr int width = lane_width<S, T>;
  using memory_type = typename source_memory<S>::memory_type;

  __device__ __forceinline__ tile_reader(S const& source, tile_place const& place, T const& absent = {})
      : source_(source), place_(place), absent_(absent) {}

  // `Rows` rows of 32 lanes times `width` values, from row `row` on: the lane's values of each. What does not exist is `absent`. `Aligned`:
  // the tile is known to lie in aligned 16-byte pieces.
  template <bool Aligned = false, int Rows>
  __device__ __forceinline__ void read(int row, int lane, T (&value)[Rows][width]) const {
    for_each_row<Aligned, Rows>(row, lane, [&](int i, T(&of_row)[width]) {
#pragma unroll
      for (int v = 0; v < width; ++v) value[i][v] = of_row[v];
    });
  }

  // The same, each row given to use(i, values) by itself, so that it need not be kept until the others are there; `use` may use them up.
  template <bool Aligned = false, int Rows, class Use>
  __device__ __forceinline__ void for_each_row(int row, int lane, Use const& use) const {
    int const at = (row * 32 + lane) * width;
    if constexpr (has_vectors<S>) {
      if (Aligned || place_.complete) {
        constexpr int bytes = sizeof(memory_type);
        unsigned const skew = Aligned ? 0u : static_cast<unsigned>(reinterpret_cast<cuda::std::uintptr_t>(place_.lowest)) & 15u;
        auto const* const from =
            reinterpret_cast<vector_bytes const*>(place_.lowest - skew + (Direction == forward ? at : place_.size - width - at) * bytes);
        constexpr int next = Direction == forward ? 32 : -32;
        auto const use_bits = [&](int i, vector_bytes const& bits) {
          auto const elements = cuda::std::bit_cast<packed_elements<memory_type>>(bits);
          T value[width];
#pragma unroll
          for (int v = 0; v < width; ++v) value[v] = converted(source_, elements.element[Direction == forward ? v : width - 1 - v]);
          use(i, value);
        };
        if (skew == 0) {
          vector_bytes bits[Rows];
#pragma unroll
          for (int i = 0; i < Rows; ++i) bits[i] = load_vector(from + i * next);
#pragma unroll
          for (int i = 0; i < Rows; ++i) use_bits(i, bits[i]);
        } else if constexpr (!Aligned && bytes < 16) {
          with_skew<bytes>(skew, [&](auto words, unsigned rest) {
#pragma unroll
            for (int i = 0; i < Rows; ++i)
              use_bits(i, bytes_at<words()>(load_vector(from + i * next), load_vector(from + (i * next + 1)), rest));
          });
        }
        return;
      }
    }
    if constexpr (!Aligned) {
      if constexpr (has_vectors<S>) {
        if (place_.lowest != nullptr) {
          // At an end of the array.
          int const left = elements_left(place_.count, place_.first + at);
          auto const* const from = reinterpret_cast<memory_type const*>(place_.lowest) + (Direction == forward ? at : place_.size - 1 - at);
          use_elements<Rows>(use, [&](int k, T& value) {
            if (k < left) value = converted(source_, from[Direction == forward ? k : -k]);
          });
          return;
        }
      }
      use_elements<Rows>(use, [&](int k, T& value) {
        cuda::std::int64_t const p = place_.first + (at + k);
        if (p >= place_.count) return;
        auto const element = source_(Direction == forward ? p : place_.count - 1 - p);
        value = conversion<T, cuda::std::remove_cvref_t<decltype(element)>>::of(element);
      });
    }
  }

 private:
  // Rows one element after the other; get(k, value) reads what is k places behind the lane's first element, if it exists.
  template <int Rows, class Use, class Get>
  __device__ __forceinline__ void use_elements(Use const& use, Get const& get) const {
#pragma unroll
    for (int i = 0; i < Rows; ++i) {
      T value[width];
#pragma unroll
      for (int v = 0; v < width; ++v) {
        value[v] = absent_;
        get(i * 32 * width + v, value[v]);
      }
      use(i, value);
    }
  }

  template <class M>
  __device__ __forceinline__ static T converted(S const& source, M const& element) {
    auto const value = source_memory<S>::value(source, element);
    return conversion<T, cuda::std::remove_cvref_t<decltype(value)>>::of(value);
  }

  S const& source_;
  tile_place const& place_;
  T absent_;
};

// Every NaN of the values becomes the canonical one.
template <class T, int Rows, int Width>
__device__ __forceinline__ void make_canonical(T (&value)[Rows][Width]) {
  if constexpr (cuda::std::is_same_v<T, double>) {
    // Where no exponent is full there is none: neither is the greatest of the high words full, nor that of those with a sign, which are the
    // greatest without one.
    int most = 0;
    unsigned most_with_sign = 0;
#pragma unroll
    for (int i = 0; i < Rows * Width; ++i) {
      int const high = __double2hiint(value[i / Width][i % Width]);
      most = max(most, high);
      most_with_sign = max(most_with_sign, static_cast<unsigned>(high));
    }
    if (most < 0x7FF00000 && most_with_sign < 0xFFF00000u) return;
  }
#pragma unroll
  for (int i = 0; i < Rows * Width; ++i) value[i / Width][i % Width] = canonical(value[i / Width][i % Width]);
}

// Writes a warp's rows, converted: value[r][v] is position first + (32 r + lane) Width + v of an array of `count` elements. `Aligned`: they
// are known to lie in aligned 16-byte pieces of it.
template <scan_direction Direction, bool Aligned = false, class T, int Rows, int Width, class Out>
__device__ __forceinline__ void write_rows(Out const& out, cuda::std::int64_t count, cuda::std::int64_t first, int lane, bool contiguous,
                                           T const (&values)[Rows][Width]) {
  auto const value = [&](int r, int v) { return conversion<typename Out::element_type, T>::of(values[r][v]); };
  using element = typename Out::element_type;
  constexpr int size = Rows * 32 * Width;
  bool const all = first + size <= count;
  if constexpr (sizeof(element) * Width == 16) {
    if (Aligned || (all && contiguous)) {
      cuda::std::int64_t const lowest_index = Direction == forward ? first : count - first - size;
      char* const lowest = reinterpret_cast<char*>(Aligned ? out.data_handle() + lowest_index : &out(lowest_index));
      unsigned const skew = Aligned ? 0u : static_cast<unsigned>(reinterpret_cast<cuda::std::uintptr_t>(lowest)) & 15u;
      vector_bytes bits[Rows];
#pragma unroll
      for (int r = 0; r < Rows; ++r) {
        packed_elements<element> packed;
#pragma unroll
        for (int v = 0; v < Width; ++v) packed.element[Direction == forward ? v : Width - 1 - v] = value(r, v);
        bits[r] = cuda::std::bit_cast<vector_bytes>(packed);
      }
      auto const offset = [&](int r) { return Direction == forward ? (r * 32 + lane) * 16 : (Rows * 32 - 1 - r * 32 - lane) * 16; };
      if constexpr (Aligned) {
#pragma unroll
        for (int r = 0; r < Rows; ++r) store_vector(lowest + offset(r), bits[r]);
        return;
      }
      if (skew == 0) {
#pragma unroll
        for (int r = 0; r < Rows; ++r) store_vector(lowest + offset(r), bits[r]);
        return;
      }
      // A lane writes aligned 16 bytes that its own lie in, and with them what its neighbour in memory has of these: the one of the two
      // pieces of which the neighbour has less. The ends of the warp's piece go one by one.
      if constexpr (!Aligned && sizeof(element) < 16) {
        unsigned const head = 16u - skew;  // bytes of the lane's own that lie before the aligned address
        with_skew<sizeof(element)>(head, [&](auto words, unsigned rest) {
          constexpr bool from_above = words() < 2 || (words() == 2 && sizeof(element) % 4 == 0);
          // From which lane: that of the next higher, or the next lower, address; the lane at the warp's end gives its other row.
          constexpr int step = (Direction == forward) == from_above ? 1 : -1;
          int const neighbour = (lane + step) & 31;
          bool const gives_other_row = lane == (step > 0 ? 0 : 31);
#pragma unroll
          for (int r = 0; r < Rows; ++r) {
            constexpr int most = Rows - 1;
            vector_bytes beside = bits[r];
            int const other_row = step > 0 ? (r < most ? r + 1 : r) : (r > 0 ? r - 1 : r);
#pragma unroll
            for (int i = 0; i < 4; ++i) {
              bool const in_part = i == words() && sizeof(element) % 4 != 0;
              if (from_above ? i > words() || (i == words() && !in_part) : i < words()) continue;  // not needed
              // Values, not places: a choice between places would put the rows into memory.
              unsigned const same = bits[r].word[i], other = bits[other_row].word[i];
              beside.word[i] = shuffle(gives_other_row ? other : same, neighbour);
            }
            bool const first_lane = r == 0 && lane == 0, last_lane = r == most && lane == 31;
            bool const bottom = Direction == forward ? first_lane : last_lane, top = Direction == forward ? last_lane : first_lane;
            char* const own = lowest + offset(r);
            if (bottom || top) {
              auto const mine = cuda::std::bit_cast<packed_elements<element>>(bits[r]);
#pragma unroll
              for (int v = 0; v < Width; ++v) {
                bool const before_aligned = v * sizeof(element) < head;
                if (before_aligned ? bottom : top) reinterpret_cast<element*>(own)[v] = mine.element[v];
              }
            }
            if constexpr (from_above) {
              if (!top) store_vector(own + head, bytes_at<words()>(bits[r], beside, rest));
            } else {
              if (!bottom) store_vector(own + head - 16, bytes_at<words()>(beside, bits[r], rest));
            }
          }
        });
      }
      return;
    }
  }
  if constexpr (!Aligned) {
    int const at = lane * Width, left = elements_left(count, first + at);
    // At the end of an array whose elements lie one behind the other, one address does for all.
    element* const to = contiguous ? &out(Direction == forward ? first : count - 1 - first) : nullptr;
    auto const put = [&](auto const& store) {
#pragma unroll
      for (int i = 0; i < Rows * Width; ++i) {
        int const k = i / Width * 32 * Width + i % Width;
        if (k < left) store(k, value(i / Width, i % Width));
      }
    };
    if (contiguous) {
      put([&](int k, element const& e) { to[Direction == forward ? at + k : -at - k] = e; });
    } else {
      put([&](int k, element const& e) { out(Direction == forward ? first + at + k : count - 1 - first - at - k) = e; });
    }
  }
}

}  // namespace tessera::inline v0_1::detail
