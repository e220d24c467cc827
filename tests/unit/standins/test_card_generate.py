"""The stub generator: which functions it finds in a header, and what it says of one that it cannot read."""

from __future__ import annotations

from pathlib import Path

from tests.unit.standins.load import load

CARD = Path(__file__).resolve().parents[2] / "standins" / "card"


generate = load("card_generate", CARD / "nvml" / "generate.py")

HEADER = """
/* nvmlReturn_t DECLDIR nvmlInAComment(void); */
// nvmlReturn_t DECLDIR nvmlInALineComment(void);
#define nvmlInit nvmlInit_v2
nvmlReturn_t DECLDIR nvmlInit_v2(void);
nvmlReturn_t DECLDIR nvmlDeviceGetMemoryErrorCounter(nvmlDevice_t device, nvmlMemoryErrorType_t errorType,
                                                     unsigned long long *count);
const DECLDIR char* nvmlErrorString(nvmlReturn_t result);
typedef nvmlReturn_t (*nvmlNotAFunction)(void);
#ifdef NVML_NO_UNVERSIONED_FUNC_DEFS
nvmlReturn_t DECLDIR nvmlInit(void);
nvmlReturn_t DECLDIR nvmlInit_v2(void);
#endif
"""


def test_every_declared_function_once_in_order() -> None:
    assert generate.functions(HEADER) == ("nvmlInit_v2", "nvmlDeviceGetMemoryErrorCounter", "nvmlInit")


def test_a_header_without_functions_gives_none() -> None:
    assert generate.functions("int main(void);\n") == ()


def test_stubs_are_weak_say_not_supported_and_leave_a_trace() -> None:
    source = generate.stubs(("nvmlInit", "nvmlShutdown"))
    assert source.count("STUB(nvml") == 2
    assert "__attribute__((weak))" in source
    assert "return 3;" in source  # NVML_ERROR_NOT_SUPPORTED
    assert "gpu_host_trace(#name)" in source


def test_too_few_functions_is_one_sentence_with_the_next_step() -> None:
    sentence = generate.too_few(3)
    assert "declares 3 functions where at least 300" in sentence
    assert "requirements.txt" in sentence
