/* SPDX-License-Identifier: MIT */
/* Runs mxcc and programs in a folder of the test's own. */
#ifndef TEST_MXCC_RUN_H
#define TEST_MXCC_RUN_H

#include <glib.h>

/* Before g_test_run(): makes the folder and works in it. */
void test_run_begin(void);
int test_run_end(int status);

/* Path of a file in the folder, with text in it unless NULL. Never freed. */
const char *test_file(const char *name, const char *text);

/* Runs a command; returns its status. What it prints on both outputs is in
 * *out until the next run. */
int test_run(const char **out, ...) G_GNUC_NULL_TERMINATED;
/* mxcc with options and files of the folder; asserts success. */
void test_mxcc(const char *first, ...) G_GNUC_NULL_TERMINATED;
/* mxcc fails with status 1, and says text. */
void test_mxcc_fails(const char *text, ...) G_GNUC_NULL_TERMINATED;

#endif
