/* One card: which there are, what they are, how they are. */
#include "state.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

const struct card *card_of(nvmlDevice_t device)
{
    const struct card *card = (const struct card *)device;
    return card >= machine.cards && card < machine.cards + machine.count ? card : NULL;
}

static nvmlReturn_t hand_out(const struct card *card, nvmlDevice_t *device)
{
    if (card->lost)
        return NVML_ERROR_GPU_IS_LOST;
    *device = (nvmlDevice_t)card;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *count)
{
    if (!count)
        return NVML_ERROR_INVALID_ARGUMENT;
    *count = machine.count;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCount(unsigned int *count)
{
    return nvmlDeviceGetCount_v2(count);
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device)
{
    if (!device || index >= machine.count)
        return NVML_ERROR_INVALID_ARGUMENT;
    return hand_out(&machine.cards[index], device);
}

nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned int index, nvmlDevice_t *device)
{
    return nvmlDeviceGetHandleByIndex_v2(index, device);
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device)
{
    if (!uuid || !device)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (unsigned i = 0; i < machine.count; i++)
        if (!strcasecmp(uuid, machine.cards[i].uuid))
            return hand_out(&machine.cards[i], device);
    return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, nvmlDevice_t *device)
{
    unsigned domain = 0, bus, slot;
    if (!bus_id || !device)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (sscanf(bus_id, "%x:%x:%x.", &domain, &bus, &slot) != 3) {
        domain = 0;
        if (sscanf(bus_id, "%x:%x.", &bus, &slot) != 2)
            return NVML_ERROR_INVALID_ARGUMENT;
    }
    for (unsigned i = 0; i < machine.count; i++) {
        const struct card *card = &machine.cards[i];
        if (card->pci_domain == domain && card->pci_bus == bus && card->pci_device == slot)
            return hand_out(card, device);
    }
    return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t nvmlDeviceGetHandleBySerial(const char *serial, nvmlDevice_t *device)
{
    if (!serial || !device)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (unsigned i = 0; i < machine.count; i++)
        if (!strcmp(serial, machine.cards[i].serial))
            return hand_out(&machine.cards[i], device);
    return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int *index)
{
    CARD(card, device);
    *index = (unsigned)(card - machine.cards);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned int *minor)
{
    CARD(card, device);
    *minor = card->minor;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned int length)
{
    CARD(card, device);
    return put_text(name, length, card->name);
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned int length)
{
    CARD(card, device);
    return put_text(uuid, length, card->uuid);
}

nvmlReturn_t nvmlDeviceGetSerial(nvmlDevice_t device, char *serial, unsigned int length)
{
    CARD(card, device);
    return put_text(serial, length, card->serial);
}

nvmlReturn_t nvmlDeviceGetVbiosVersion(nvmlDevice_t device, char *version, unsigned int length)
{
    CARD(card, device);
    return put_text(version, length, card->vbios);
}

nvmlReturn_t nvmlDeviceGetBrand(nvmlDevice_t device, nvmlBrandType_t *brand)
{
    CARD(card, device);
    *brand = NVML_BRAND_NVIDIA;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device, nvmlDeviceArchitecture_t *arch)
{
    CARD(card, device);
    switch (card->compute_major) {
    case 6: *arch = NVML_DEVICE_ARCH_PASCAL; break;
    case 7: *arch = card->compute_minor >= 5 ? NVML_DEVICE_ARCH_TURING : NVML_DEVICE_ARCH_VOLTA; break;
    case 8: *arch = card->compute_minor >= 9 ? NVML_DEVICE_ARCH_ADA : NVML_DEVICE_ARCH_AMPERE; break;
    case 9: *arch = NVML_DEVICE_ARCH_HOPPER; break;
    default: *arch = NVML_DEVICE_ARCH_UNKNOWN;
    }
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major, int *minor)
{
    CARD(card, device);
    *major = (int)card->compute_major;
    *minor = (int)card->compute_minor;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t device, nvmlEnableState_t *mode)
{
    CARD(card, device);
    *mode = card->persistence ? NVML_FEATURE_ENABLED : NVML_FEATURE_DISABLED;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t device, nvmlComputeMode_t *mode)
{
    CARD(card, device);
    *mode = NVML_COMPUTEMODE_DEFAULT;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetDisplayMode(nvmlDevice_t device, nvmlEnableState_t *mode)
{
    CARD(card, device);
    *mode = NVML_FEATURE_DISABLED;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetDisplayActive(nvmlDevice_t device, nvmlEnableState_t *active)
{
    return nvmlDeviceGetDisplayMode(device, active);
}

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned int *current, unsigned int *pending)
{
    CARD(card, device);
    if (card->mig == MIG_UNSUPPORTED)
        return NVML_ERROR_NOT_SUPPORTED;
    *current = *pending = card->mig == MIG_ON;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned int *is_mig)
{
    CARD(card, device);
    *is_mig = 0;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned int *count)
{
    CARD(card, device);
    *count = card->mig == MIG_UNSUPPORTED ? 0 : 7;
    return NVML_SUCCESS;
}

/* MIG on, and nobody has made an instance yet. */
nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, unsigned int index, nvmlDevice_t *mig)
{
    CARD(card, device);
    (void)index;
    (void)mig;
    return NVML_ERROR_NOT_FOUND;
}
