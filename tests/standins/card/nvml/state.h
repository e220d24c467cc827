/* What the API functions share. */
#pragma once
#define NVML_NO_UNVERSIONED_FUNC_DEFS
#include "config.h"
#include "nvml.h"

extern struct machine machine;

/* The card behind a handle, or NULL. */
const struct card *card_of(nvmlDevice_t device);

/* The first lines of every function on a card: bad handle, or a card that has fallen off the bus. */
#define CARD(card, device)                        \
    const struct card *card = card_of(device);    \
    if (!card)                                    \
        return NVML_ERROR_INVALID_ARGUMENT;       \
    if (card->lost)                               \
        return NVML_ERROR_GPU_IS_LOST

/* Leave with the configured return code where the value is not a number. */
#define VALUE(reading)                            \
    if ((reading).status)                         \
        return (nvmlReturn_t)(reading).status

nvmlReturn_t put_text(char *to, unsigned int size, const char *text);

#define MIB (1024ULL * 1024ULL)
