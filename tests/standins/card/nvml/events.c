/* Event sets can be made, and nothing ever happens in them: nvidia-smi's table makes one at its start. */
#include "state.h"

#include <stdlib.h>
#include <unistd.h>

nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t *set)
{
    void *memory = malloc(1);
    if (!memory)
        return NVML_ERROR_MEMORY;
    *set = (nvmlEventSet_t)memory;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set)
{
    free((void *)set);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device, unsigned long long *types)
{
    CARD(card, device);
    *types = nvmlEventTypeXidCriticalError;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long types, nvmlEventSet_t set)
{
    CARD(card, device);
    (void)types;
    (void)set;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t *data, unsigned int milliseconds)
{
    (void)set;
    (void)data;
    usleep(milliseconds * 1000);
    return NVML_ERROR_TIMEOUT;
}
