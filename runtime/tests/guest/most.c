/* SPDX-License-Identifier: MIT */
/*
 * usage: runtime-most [beyond]
 *
 * Has 60 % of the device's memory, fills it, and finds again what it filled:
 * several of them at once have more than there is. With "beyond" it asks for
 * all that there is and then for more, which has to be refused. Prints PASS.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcr/mc_runtime_api.h"

#define PARTS  16u
#define ROUNDS 3u

static uint8_t *memory[PARTS];

static void check(mcError_t error, const char *what)
{
    if (error != mcSuccess) {
        printf("%s: %s\n", what, mcGetErrorName(error));
        exit(1);
    }
}

static int seed(unsigned part, unsigned round)
{
    return (int)(1 + part * 7 + round);
}

static void fill(unsigned part, unsigned round, size_t size)
{
    check(mcMemset(memory[part], seed(part, round), size), "fill");
}

static void compare(unsigned part, unsigned round, size_t size, uint8_t *host)
{
    check(mcMemcpy(host, memory[part], size, mcMemcpyDeviceToHost), "copy");
    for (size_t i = 0; i < size; i++) {
        if (host[i] != (uint8_t)seed(part, round)) {
            printf("part %u, round %u: %u at %zu\n", part, round, host[i], i);
            exit(1);
        }
    }
}

static void most(size_t total)
{
    size_t size = total * 6 / 10 / PARTS;
    uint8_t *host = malloc(size);

    if (!host) {
        check(mcErrorMemoryAllocation, "memory of the host");
    }
    for (unsigned i = 0; i < PARTS; i++) {
        check(mcMalloc((void **)&memory[i], size), "memory");
        fill(i, 0, size);
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < PARTS; i++) {
            compare(i, round, size, host);
            fill(i, round + 1, size);
        }
    }
    free(host);
}

static void beyond(size_t total)
{
    size_t size = total / PARTS, got = 0;
    mcError_t error = mcSuccess;
    void *p;

    for (unsigned i = 0; i <= PARTS && !error; i++) {
        error = mcMalloc(&p, size);
        got += error ? 0 : size;
    }
    printf("%zu of %zu bytes, then %s\n", got, total, mcGetErrorName(error));
    if (error != mcErrorMemoryAllocation || got < total / 2) {
        exit(1);
    }
}

int main(int argc, char **argv)
{
    size_t unused, total;

    check(mcMemGetInfo(&unused, &total), "size");
    if (argc == 2 && !strcmp(argv[1], "beyond")) {
        beyond(total);
    } else {
        most(total);
    }
    puts("PASS");
    return 0;
}
