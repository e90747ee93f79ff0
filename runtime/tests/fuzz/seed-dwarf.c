/* SPDX-License-Identifier: MIT */
/* Line tables for fuzz-dwarf to begin with: functions in each other. */
static inline __attribute__((always_inline)) int inner(int x)
{
    return x * 3 + 1;
}

static inline __attribute__((always_inline)) int outer(int x)
{
    int y = inner(x);

    return y & 1 ? inner(y) : y;
}

int seed(int *out, int n);

int seed(int *out, int n)
{
    for (int i = 0; i < n; i++) {
        out[i] = outer(i);
    }
    return n;
}
