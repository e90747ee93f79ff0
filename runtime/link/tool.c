/* SPDX-License-Identifier: MIT */
#include "tool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "compiler/compiler.h"

#define TEXT_MAX (1u << 20) /* bytes of messages that are kept */
#define WORDS_MAX 16        /* of options */
#define OUTPUT "linked.fatbin"

/* Each in a folder of its number: messages name the file as the caller did,
 * and two may have one name. */
static bool write_input(const char *folder, size_t number,
                        const McLinkInput *input, char *path, size_t size)
{
    snprintf(path, size, "%s/%zu", folder, number);
    if (mkdir(path, 0700) != 0) {
        return false;
    }
    snprintf(path, size, "%s/%zu/%s", folder, number, input->name);
    return mc_compiler_write(path, input->data, input->size);
}

/* argv[n] and on become the inputs, by names from the folder. */
static mcError_t add_inputs(const McLinkInput *inputs, size_t count,
                            const char *folder, char **argv)
{
    char path[PATH_MAX];

    for (size_t i = 0; i < count; i++) {
        if (!write_input(folder, i, &inputs[i], path, sizeof(path))) {
            mc_error("%s: %s", path, strerror(errno));
            return mcErrorOperatingSystem;
        }
        argv[i] = strdup(path + strlen(folder) + 1);
        if (!argv[i]) {
            return mcErrorMemoryAllocation;
        }
    }
    return mcSuccess;
}

/* It works in the folder: its messages name inputs as seen from there. */
static mcError_t run(char *const *argv, const char *folder,
                     McLinkOutput *output)
{
    char made[PATH_MAX];
    McCompilerRun how = {argv, folder, folder, made, TEXT_MAX};

    snprintf(made, sizeof(made), "%s/%s", folder, OUTPUT);
    mcError_t error = mc_compiler_run(&how, &output->text);
    return error == mcSuccess
               ? mc_compiler_read(made, &output->image, &output->size)
               : error;
}

mcError_t mc_link_run(const McLinkInput *inputs, size_t count,
                      const char *const *options, McLinkOutput *output)
{
    char tool[PATH_MAX], folder[MC_COMPILER_FOLDER];
    char *argv[WORDS_MAX] = {tool, "-dlink", "-fatbin", "-o", OUTPUT};
    size_t words = 5;

    *output = (McLinkOutput){0};
    if (!mc_compiler_find(tool, sizeof(tool))) {
        return mcErrorJitCompilerNotFound;
    }
    while (*options && words < WORDS_MAX) {
        argv[words++] = (char *)*options++;
    }
    char **all = calloc(words + count + 1, sizeof(*all));
    if (!all) {
        return mcErrorMemoryAllocation;
    }
    if (!mc_compiler_folder_make(folder, "mclink")) {
        mc_error("no folder for the linker: %s", strerror(errno));
        free(all);
        return mcErrorOperatingSystem;
    }
    memcpy(all, argv, words * sizeof(*all));
    mcError_t error = add_inputs(inputs, count, folder, all + words);
    if (error == mcSuccess) {
        error = run(all, folder, output);
    }
    mc_compiler_folder_remove(folder);
    for (size_t i = 0; i < count; i++) {
        free(all[words + i]);
    }
    free(all);
    return error;
}
