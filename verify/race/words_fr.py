"""The messages in French: id to template; one line each, in the order of the ids."""

from __future__ import annotations

# ruff: noqa: E501, RUF001  # a sentence is a line; French typography has its own signs

WORDS: dict[str, str] = {
    "absent-card": "torch {torch} est compilé pour CUDA {cuda} mais ne trouve aucune carte utilisable : torch.cuda.is_available() vaut False",
    "absent-compute": "torch {torch} n’a pas de code pour la capacité de calcul {compute_capability} de cette carte (il a {built_for}) : installez une version de torch prévue pour elle",
    "absent-cpu-build": "torch {torch} est une version pour CPU : installez-en une version CUDA",
    "absent-import": "{library} ne peut pas être importé : {error}",
    "absent-library": "{library} n’est pas installé pour ce Python",
    "accuracy-low": "l’exactitude atteinte est de {accuracy:.3f} alors qu’il faut au moins {least:.2f} : le réseau n’a pas appris, et son temps n’est pas comparé",
    "cache-bound": "{gbs:.0f} Go/s, c’est plus que ce que donne la mémoire de la carte ({peak_gbs:.0f} Go/s) : le travail tient dans son cache L2",
    "clock-changed": "la fréquence de la carte est passée de {low_mhz:.0f} à {high_mhz:.0f} MHz pendant la mesure",
    "cpu-busy": "d’autres utilisaient le CPU avant le départ (charge {load:.1f} sur {cores} cœurs) : recommencez sur une machine au repos",
    "differs": "le résultat diffère de celui du couloir {lane} : {what} {a:.6g} contre {b:.6g} ; son temps n’est pas comparé",
    "differs-tf32": "le résultat diffère de celui du couloir {lane} d’autant que l’explique l’arrondi de TF32 : {what} {a:.6g} contre {b:.6g} ; cherchez NVIDIA_TF32_OVERRIDE ou un réglage qui active TF32 ; son temps n’est pas comparé",
    "failed": "{error}",
    "few-samples": "{count} répétitions seulement : il en faut au moins {least} pour un intervalle fiable",
    "few-threads": "le couloir CPU n’a eu que {threads} cœurs sur {cores}",
    "no-budget": "il ne restait rien du budget de {budget_s:.0f} s : donnez un --budget plus grand, ou moins de concurrents avec --only",
    "others-on-card": "{count} autres processus utilisaient la carte : recommencez quand elle sera libre",
    "outliers": "{count} répétitions sur {of} s’écartent de la médiane de 50 % ou plus : voyez les mesures brutes",
    "over-bandwidth": "{gbs:.0f} Go/s, c’est plus que ce que donne la mémoire de la carte ({peak_gbs:.0f} Go/s) : la mesure n’est pas valable",
    "over-peak": "{tflops:.3g} TFLOPS, c’est plus que ce que la carte sait faire en {precision} ({peak_tflops:.3g} TFLOPS) : la mesure n’est pas valable",
    "power-capped": "la puissance de la carte est limitée à {watts:.0f} W alors que sa valeur d’origine est de {default_watts:.0f} W",
    "sampler-cost": "l’observation de la carte a pris {share:.1%} d’un cœur, plus de 2 %",
    "spread": "les répétitions varient de {share:.0%} de leur moyenne : recommencez sur une machine au repos",
    "swap": "{mib} Mio de la mémoire de la machine sont en échange (swap) : fermez ce qui tourne d’autre",
    "throttled": "la carte a été ralentie : {reasons}",
    "too-short": "la répétition la plus rapide a pris {seconds:.2g} s : le travail est trop petit pour être mesuré",
}
