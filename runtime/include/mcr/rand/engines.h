/* SPDX-License-Identifier: MIT */
/*
 * The generators behind mcrand_kernel.h, curand_kernel.h and hiprand_kernel.h:
 * Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
 * easy as 1, 2, 3", 2011) and XORWOW (Marsaglia, "Xorshift RNGs", 2003).
 */
#ifndef MCR_RAND_ENGINES_H
#define MCR_RAND_ENGINES_H

#include "mcr/rand/xorwow_jump.h"

struct __mc_philox_block {
    unsigned int x, y, z, w;
};

static __device__ inline __mc_philox_block
__mc_philox(__mc_philox_block counter, unsigned int key0, unsigned int key1)
{
    for (int round = 0; round < 10; round++) {
        unsigned long long a = 0xd2511f53ull * counter.x;
        unsigned long long b = 0xcd9e8d57ull * counter.z;

        counter.x = (unsigned int)(b >> 32) ^ counter.y ^ key0;
        counter.y = (unsigned int)b;
        counter.z = (unsigned int)(a >> 32) ^ counter.w ^ key1;
        counter.w = (unsigned int)a;
        key0 += 0x9e3779b9u;
        key1 += 0xbb67ae85u;
    }
    return counter;
}

/* The second half of a pair of normal numbers waits for the next call. */
struct __mc_normal_pair {
    bool has_float, has_double;
    float next_float;
    double next_double;
};

/* A number's place: subsequence in the upper half of the counter, offset / 4 in
 * the lower. `block` is what the counter gives, `used` how much of it went. */
struct __mc_philox_state {
    unsigned long long position, subsequence;
    unsigned int key0, key1, used;
    __mc_philox_block block;
    __mc_normal_pair normal;

    __device__ void refill()
    {
        block = __mc_philox({ (unsigned int)position,
                              (unsigned int)(position >> 32),
                              (unsigned int)subsequence,
                              (unsigned int)(subsequence >> 32) },
                            key0, key1);
    }
    __device__ void init(unsigned long long seed, unsigned long long sequence,
                         unsigned long long offset)
    {
        key0 = (unsigned int)seed;
        key1 = (unsigned int)(seed >> 32);
        subsequence = sequence;
        position = offset / 4;
        used = offset % 4;
        normal = {};
        refill();
    }
    __device__ void advance(unsigned long long blocks)
    {
        if (position + blocks < position) {
            subsequence++;
        }
        position += blocks;
        refill();
    }
    __device__ void skip(unsigned long long n)
    {
        unsigned int rest = used + n % 4;

        used = rest % 4;
        advance(n / 4 + rest / 4);
        normal = {};
    }
    __device__ void skip_sequences(unsigned long long n)
    {
        subsequence += n;
        refill();
        normal = {};
    }
    __device__ unsigned int next()
    {
        unsigned int x = used == 0 ? block.x :
                         used == 1 ? block.y :
                         used == 2 ? block.z :
                                     block.w;

        if (++used == 4) {
            used = 0;
            advance(1);
        }
        return x;
    }
};

struct __mc_xorwow_state {
    unsigned int v[5], weyl;
    __mc_normal_pair normal;

    __device__ unsigned int next()
    {
        step();
        weyl += 362437;
        return v[4] + weyl;
    }
    __device__ void step()
    {
        unsigned int t = v[0] ^ v[0] >> 2;

        v[0] = v[1];
        v[1] = v[2];
        v[2] = v[3];
        v[3] = v[4];
        v[4] ^= v[4] << 4 ^ t ^ t << 1;
    }
    /* The sum of what `poly`'s powers of one step make of the register. */
    __device__ void jump(const unsigned int *poly)
    {
        unsigned int sum[5] = {};

        for (int word = 0; word < 5; word++) {
            unsigned int bits = poly[word];

            for (int i = 0; i < 32; i++) {
                unsigned int mask = 0u - (bits >> i & 1);

                for (int k = 0; k < 5; k++) {
                    sum[k] ^= v[k] & mask;
                }
                step();
            }
        }
        for (int k = 0; k < 5; k++) {
            v[k] = sum[k];
        }
    }
    __device__ void jumps(const unsigned int (*polys)[5], unsigned long long n)
    {
        for (int i = 0; n; i++, n >>= 1) {
            if (n & 1) {
                jump(polys[i]);
            }
        }
    }
    __device__ void skip(unsigned long long n)
    {
        jumps(__mc_xorwow_jump, n);
        weyl += 362437u * (unsigned int)n;
        normal = {};
    }
    /* 2^67 steps each, of which the Weyl sequence keeps nothing. */
    __device__ void skip_sequences(unsigned long long n)
    {
        jumps(__mc_xorwow_jump + 64, n);
        normal = {};
    }
    /* The seed goes through SplitMix64 (Steele, Lea and Flood, 2014). */
    __device__ void init(unsigned long long seed, unsigned long long sequence,
                         unsigned long long offset)
    {
        unsigned int words[6];

        for (int i = 0; i < 6; i += 2) {
            unsigned long long z = seed += 0x9e3779b97f4a7c15ull;

            z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
            z = (z ^ z >> 27) * 0x94d049bb133111ebull;
            z ^= z >> 31;
            words[i] = (unsigned int)z;
            words[i + 1] = (unsigned int)(z >> 32);
        }
        for (int k = 0; k < 5; k++) {
            v[k] = words[k];
        }
        v[4] |= !(v[0] | v[1] | v[2] | v[3] | v[4]); /* never all zero */
        weyl = words[5];
        skip_sequences(sequence);
        skip(offset);
    }
};

#endif
