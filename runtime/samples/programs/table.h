/* SPDX-License-Identifier: MIT */
/* A hash table with open addressing: keys are put in, then looked up, half of
 * them in vain. */
#include "program.h"

constexpr uint32_t TABLE_KEYS = 1 << 16, TABLE_SLOTS = 1 << 17;
constexpr uint32_t TABLE_LOOKUPS = 1 << 17, TABLE_NONE = 0;

static inline uint32_t table_hash(uint32_t key)
{
    key = (key ^ key >> 16) * 0x7feb352du;
    key = (key ^ key >> 15) * 0x846ca68bu;
    return (key ^ key >> 16) & (TABLE_SLOTS - 1);
}

struct Table {
    std::vector<uint32_t> keys, lookups, expected; /* values found, or 0 */

    Table() : keys(TABLE_KEYS), lookups(TABLE_LOOKUPS)
    {
        Random random;

        for (uint32_t i = 0; i < TABLE_KEYS; i++) {
            keys[i] = (i * 2 + 1) * 2654435761u; /* all different, never 0 */
        }
        for (auto &key : lookups) {
            key = (random.below(2 * TABLE_KEYS) * 2 + 1) * 2654435761u;
        }
        expected = plain();
    }
    std::vector<uint32_t> plain() const
    {
        std::vector<uint32_t> slot(TABLE_SLOTS, TABLE_NONE), value(TABLE_SLOTS);
        std::vector<uint32_t> found(TABLE_LOOKUPS);

        for (uint32_t i = 0; i < TABLE_KEYS; i++) {
            uint32_t at = table_hash(keys[i]);

            while (slot[at] != TABLE_NONE) {
                at = (at + 1) & (TABLE_SLOTS - 1);
            }
            slot[at] = keys[i];
            value[at] = i + 1;
        }
        for (uint32_t i = 0; i < TABLE_LOOKUPS; i++) {
            uint32_t at = table_hash(lookups[i]);

            while (slot[at] != TABLE_NONE && slot[at] != lookups[i]) {
                at = (at + 1) & (TABLE_SLOTS - 1);
            }
            found[i] = slot[at] == TABLE_NONE ? 0 : value[at];
        }
        return found;
    }
    bool right(const std::vector<uint32_t> &found) const
    {
        return found == expected;
    }
};
