/* Power, by the functions of its own and by the field values that nvidia-smi -q asks for. */
#include "state.h"

#define LOWEST_LIMIT_W 100 /* that can be set on an A10 */

static nvmlReturn_t put_milliwatts(struct reading watts, unsigned int *to)
{
    VALUE(watts);
    *to = (unsigned int)(watts.value * 1000 + 0.5);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int *milliwatts)
{
    CARD(card, device);
    return put_milliwatts(card->power_w, milliwatts);
}

nvmlReturn_t nvmlDeviceGetPowerManagementMode(nvmlDevice_t device, nvmlEnableState_t *mode)
{
    CARD(card, device);
    *mode = NVML_FEATURE_ENABLED;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPowerManagementLimit(nvmlDevice_t device, unsigned int *milliwatts)
{
    CARD(card, device);
    return put_milliwatts(card->power_limit_w, milliwatts);
}

nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned int *milliwatts)
{
    return nvmlDeviceGetPowerManagementLimit(device, milliwatts);
}

nvmlReturn_t nvmlDeviceGetPowerManagementDefaultLimit(nvmlDevice_t device, unsigned int *milliwatts)
{
    return nvmlDeviceGetPowerManagementLimit(device, milliwatts);
}

nvmlReturn_t nvmlDeviceGetPowerManagementLimitConstraints(nvmlDevice_t device, unsigned int *low, unsigned int *high)
{
    *low = LOWEST_LIMIT_W * 1000;
    return nvmlDeviceGetPowerManagementLimit(device, high);
}

static nvmlReturn_t field_watts(const struct card *card, unsigned int field, struct reading *watts)
{
    switch (field) {
    case NVML_FI_DEV_POWER_AVERAGE:
    case NVML_FI_DEV_POWER_INSTANT:
        *watts = card->power_w;
        return NVML_SUCCESS;
    case NVML_FI_DEV_POWER_MIN_LIMIT:
        *watts = (struct reading){.status = card->power_limit_w.status, .value = LOWEST_LIMIT_W};
        return NVML_SUCCESS;
    case NVML_FI_DEV_POWER_MAX_LIMIT:
    case NVML_FI_DEV_POWER_DEFAULT_LIMIT:
    case NVML_FI_DEV_POWER_CURRENT_LIMIT:
    case NVML_FI_DEV_POWER_REQUESTED_LIMIT:
        *watts = card->power_limit_w;
        return NVML_SUCCESS;
    default:
        return NVML_ERROR_NOT_SUPPORTED;
    }
}

/* Each value carries its own return code, and callers look at nothing else. */
nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t *values)
{
    CARD(card, device);
    for (int i = 0; i < count; i++) {
        struct reading watts = {0};
        unsigned int milliwatts = 0;
        nvmlReturn_t result = values[i].scopeId == NVML_POWER_SCOPE_GPU ? field_watts(card, values[i].fieldId, &watts)
                                                                        : NVML_ERROR_NOT_SUPPORTED;
        values[i].nvmlReturn = result ? result : put_milliwatts(watts, &milliwatts);
        values[i].valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
        values[i].value.uiVal = milliwatts;
    }
    return NVML_SUCCESS;
}
