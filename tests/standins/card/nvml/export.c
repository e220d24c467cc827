/* The table of internal functions that nvidia-smi asks for. Without it nvidia-smi says "Mismatch in versions between
 * nvidia-smi and NVML". The first word is the table's size in bytes; the slots were found by watching which ones
 * nvidia-smi 550.163.01 calls and with what. */
#include "state.h"

#include <stdio.h>

#include "trace.h"

/* Called thousands of times around every query: a lock or a log. */
static int nothing(void)
{
    return 0;
}

/* What has no function here: nvidia-smi then prints N/A. */
static int not_supported(void)
{
    gpu_host_trace("(export table)");
    return NVML_ERROR_NOT_SUPPORTED;
}

/* The bus address of a card whose handle cannot be had, for the sentence on a lost card. */
static int bus_of_index(unsigned int index, char *text)
{
    if (index >= machine.count)
        return NVML_ERROR_INVALID_ARGUMENT;
    const struct card *card = &machine.cards[index];
    snprintf(text, sizeof "0000:00:00.0", "%04X:%02X:%02X.0", card->pci_domain & 0xffff, card->pci_bus & 0xff,
             card->pci_device & 0xff);
    return NVML_SUCCESS;
}

/* Compute, graphics and MPS processes: nothing can compute on a simulated card. */
static int no_processes(nvmlDevice_t device, unsigned int *count)
{
    CARD(card, device);
    *count = 0;
    return NVML_SUCCESS;
}

enum { SLOTS = 512, LOG = 26, BUS_OF_INDEX = 81, COMPUTE = 213, GRAPHICS = 214, MPS = 215 };

nvmlReturn_t nvmlInternalGetExportTable(const void **table, const void *id); /* in no public header */

nvmlReturn_t nvmlInternalGetExportTable(const void **table, const void *id)
{
    static const void *slots[SLOTS];
    (void)id;
    if (!table)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (unsigned i = 1; i < SLOTS; i++)
        slots[i] = (const void *)not_supported;
    slots[0] = (const void *)sizeof slots;
    slots[LOG] = (const void *)nothing;
    slots[BUS_OF_INDEX] = (const void *)bus_of_index;
    slots[COMPUTE] = slots[GRAPHICS] = slots[MPS] = (const void *)no_processes;
    *table = slots;
    return NVML_SUCCESS;
}
