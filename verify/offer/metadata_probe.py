"""Ask the machine's metadata service whether it may be taken away; only sent where the user asked for that.

Sent alone, as text, to python3 (3.6 or newer, standard library only). One address, three clouds, a second
each. By memory, not checked: AWS EC2 "instance-life-cycle" and "spot/instance-action"
(IMDSv2), Google Compute Engine "scheduling/preemptible" and "preempted", Azure "compute/priority". Prints one
JSON object.
"""

import json
import sys
import urllib.error
import urllib.request
from typing import Any, Dict, Optional

PLACE = "http://169.254.169.254"
TIMEOUT_S = 1.5
LIMIT = 1024

Json = Dict[str, Any]


def ask(path: str, headers: Optional[Dict[str, str]] = None, method: str = "GET") -> Json:
    # No proxy: the address is the machine's own.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    request = urllib.request.Request(PLACE + path, headers=headers or {}, method=method)  # noqa: S310
    try:
        with opener.open(request, timeout=TIMEOUT_S) as answer:
            return {"status": answer.status, "text": answer.read(LIMIT).decode("utf-8", "replace")}
    except urllib.error.HTTPError as error:
        return {"status": error.code}
    except (OSError, ValueError) as error:
        return {"error": str(getattr(error, "reason", None) or error)}


def main() -> int:
    answer = {"schema": 1}  # type: Json
    session = ask("/latest/api/token", {"X-aws-ec2-metadata-token-ttl-seconds": "60"}, "PUT")
    ticket = session.get("text")
    if session.get("status") == 200 and ticket:  # noqa: PLR2004  # OK
        mine = {"X-aws-ec2-metadata-token": ticket}
        answer["aws-life-cycle"] = ask("/latest/meta-data/instance-life-cycle", mine)
        answer["aws-action"] = ask("/latest/meta-data/spot/instance-action", mine)
    google = {"Metadata-Flavor": "Google"}
    answer["google-preemptible"] = ask("/computeMetadata/v1/instance/scheduling/preemptible", google)
    answer["google-preempted"] = ask("/computeMetadata/v1/instance/preempted", google)
    azure = "/metadata/instance/compute/priority?api-version=2021-02-01&format=text"
    answer["azure-priority"] = ask(azure, {"Metadata": "true"})
    sys.stdout.write("\n" + json.dumps(answer, sort_keys=True) + "\n")
    return 0
