/* SPDX-License-Identifier: MIT */
/*
 * What each work does for one item, in the common subset of C, OpenCL C and
 * device C++, so that every peer runs the same arithmetic. The includer defines
 * GLOBAL (address space of pointers to memory), SQRT and FN (how a helper
 * function is declared).
 */
#define GEMM_N   512
#define SAXPY_N  (1 << 22)
#define MANDEL_N 1024
#define REDUCE_N (1 << 24)
#define NBODY_N  4096
#define HASH_N   (1 << 16)
#define GEMM_TILE    16
#define MANDEL_MAX   256
#define REDUCE_PER   32 /* elements a thread adds before the tree */
#define REDUCE_BLOCK 256
#define HASH_ROUNDS 64

FN float saxpy_item(float a, float x, float y)
{
    return a * x + y;
}

FN float sgemm_item(GLOBAL const float *a, GLOBAL const float *b, int n, int row,
                    int col)
{
    float sum = 0.0f;

    for (int k = 0; k < n; k++) {
        sum += a[row * n + k] * b[k * n + col];
    }
    return sum;
}

FN int mandel_item(int px, int py)
{
    float cx = -2.0f + (float)px * (3.0f / MANDEL_N);
    float cy = -1.5f + (float)py * (3.0f / MANDEL_N);
    float x = 0.0f, y = 0.0f;
    int n = 0;

    while (n < MANDEL_MAX) {
        float xx = x * x, yy = y * y;

        if (xx + yy > 4.0f) {
            break;
        }
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
        n++;
    }
    return n;
}

/* Adds to acc the pull of body q (x, y, z, mass) on a body at p. */
FN void nbody_item(float px, float py, float pz, float qx, float qy, float qz,
                   float mass, float *ax, float *ay, float *az)
{
    float dx = qx - px, dy = qy - py, dz = qz - pz;
    float inv = 1.0f / SQRT(dx * dx + dy * dy + dz * dz + 0.01f);
    float s = mass * inv * inv * inv;

    *ax += dx * s;
    *ay += dy * s;
    *az += dz * s;
}

#ifndef ROTATE
#define ROTATE(x, n) (((x) << (n)) | ((x) >> (32 - (n))))
#endif

FN unsigned hash_rotate(unsigned x, int n)
{
    return ROTATE(x, n);
}

/* Integer mixing with a rotating schedule of 16 words kept in registers. */
FN unsigned hash_item(unsigned id)
{
    unsigned a = 0x243f6a88u ^ id, b = 0x85a308d3u + id, c = 0x13198a2eu;
    unsigned d = 0x03707344u, w0 = id * 2654435761u, w1 = w0 + 0x9e3779b9u;
    unsigned w2 = w1 ^ 0x7f4a7c15u, w3 = w2 + 0x9e3779b9u;

    for (int i = 0; i < HASH_ROUNDS; i++) {
        unsigned s0 = hash_rotate(a, 30) ^ hash_rotate(a, 19) ^ hash_rotate(a, 10);
        unsigned s1 = hash_rotate(c, 26) ^ hash_rotate(c, 21) ^ hash_rotate(c, 7);
        unsigned t = d + s1 + ((c & b) ^ (~c & a)) + w0;
        unsigned next = w0 + (hash_rotate(w1, 25) ^ (w1 >> 3)) + w2 +
                        (hash_rotate(w3, 15) ^ (w3 >> 10));

        d = c;
        c = b + t;
        b = a;
        a = t + s0 + ((a & b) ^ (a & d));
        w0 = w1;
        w1 = w2;
        w2 = w3;
        w3 = next;
    }
    return a ^ b ^ c ^ d;
}
