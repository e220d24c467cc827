/* PCI Express and clocks: constants of an A10 at rest, nothing that a fault needs to change yet. */
#include "state.h"

#include <stdio.h>

/* The bus as the first three functions of the API gave it, and as the newest does. */
nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
    CARD(card, device);
    *pci = (nvmlPciInfo_t){
        .domain = card->pci_domain,
        .bus = card->pci_bus,
        .device = card->pci_device,
        .pciDeviceId = card->pci_device_id,
        .pciSubSystemId = card->pci_subsystem_id,
    };
    snprintf(pci->busId, sizeof pci->busId, "%08X:%02X:%02X.0", pci->domain, pci->bus, pci->device);
    snprintf(pci->busIdLegacy, sizeof pci->busIdLegacy, "%04X:%02X:%02X.0", pci->domain & 0xffff, pci->bus & 0xff,
             pci->device & 0xff);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
    return nvmlDeviceGetPciInfo_v3(device, pci);
}

nvmlReturn_t nvmlDeviceGetPciInfoExt(nvmlDevice_t device, nvmlPciInfoExt_t *pci)
{
    CARD(card, device);
    pci->domain = card->pci_domain;
    pci->bus = card->pci_bus;
    pci->device = card->pci_device;
    pci->pciDeviceId = card->pci_device_id;
    pci->pciSubSystemId = card->pci_subsystem_id;
    pci->baseClass = 3; /* a 3D controller, as data-centre cards are */
    pci->subClass = 2;
    snprintf(pci->busId, sizeof pci->busId, "%08X:%02X:%02X.0", pci->domain, pci->bus, pci->device);
    return NVML_SUCCESS;
}

static nvmlReturn_t constant(nvmlDevice_t device, unsigned int value, unsigned int *to)
{
    CARD(card, device);
    *to = value;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t device, unsigned int *generation)
{
    return constant(device, 1, generation); /* at rest; 4 under load */
}

nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device, unsigned int *generation)
{
    return constant(device, 4, generation);
}

nvmlReturn_t nvmlDeviceGetGpuMaxPcieLinkGeneration(nvmlDevice_t device, unsigned int *generation)
{
    return constant(device, 4, generation);
}

nvmlReturn_t nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t device, unsigned int *width)
{
    return constant(device, 16, width);
}

nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned int *width)
{
    return constant(device, 16, width);
}

nvmlReturn_t nvmlDeviceGetPcieReplayCounter(nvmlDevice_t device, unsigned int *count)
{
    return constant(device, 0, count);
}

/* MHz at rest and at most, in the order of nvmlClockType_t: graphics, SM, memory, video. */
static const unsigned int at_rest[NVML_CLOCK_COUNT] = {210, 210, 405, 555};
static const unsigned int at_most[NVML_CLOCK_COUNT] = {1695, 1695, 6251, 1530};

static nvmlReturn_t clock_of(nvmlDevice_t device, nvmlClockType_t type, const unsigned int *table, unsigned int *mhz)
{
    if ((unsigned)type >= NVML_CLOCK_COUNT)
        return NVML_ERROR_INVALID_ARGUMENT;
    return constant(device, table[type], mhz);
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned int *mhz)
{
    return clock_of(device, type, at_rest, mhz);
}

nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned int *mhz)
{
    return clock_of(device, type, at_most, mhz);
}
