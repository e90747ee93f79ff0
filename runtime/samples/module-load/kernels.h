/* SPDX-License-Identifier: MIT */
/* What the kernels of the module-load sample and their caller agree on. */
#ifndef SAMPLES_MODULE_LOAD_KERNELS_H
#define SAMPLES_MODULE_LOAD_KERNELS_H

struct Curve {
    double a, b, c;
};

struct Range {
    float low;
    short pad;
    double high;
};

#endif
