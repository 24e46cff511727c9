"""The licence that a file states, as an SPDX id where it is one for certain, else in the file's own words."""

from typing import Final

from onnx_autodoc.render import _hub as hub
from onnx_autodoc.render._bom import License, LicenseChoice
from onnx_autodoc.text import clean

# The Hub's names of licences that are SPDX ids, as SPDX writes them. Those of the GNU family without "only" or "or
# later" are deprecated ids, and yet what a file says that says no more.
_IDS: Final = """
    AFL-3.0 AGPL-3.0 Apache-2.0 Artistic-2.0 BSD-2-Clause BSD-3-Clause BSD-3-Clause-Clear BSL-1.0 CC-BY-2.0 CC-BY-2.5
    CC-BY-3.0 CC-BY-4.0 CC-BY-NC-2.0 CC-BY-NC-3.0 CC-BY-NC-4.0 CC-BY-NC-ND-3.0 CC-BY-NC-ND-4.0 CC-BY-NC-SA-2.0
    CC-BY-NC-SA-3.0 CC-BY-NC-SA-4.0 CC-BY-ND-4.0 CC-BY-SA-3.0 CC-BY-SA-4.0 CC0-1.0 CDLA-Permissive-1.0
    CDLA-Permissive-2.0 CDLA-Sharing-1.0 ECL-2.0 EPL-1.0 EPL-2.0 etalab-2.0 EUPL-1.1 GPL-2.0 GPL-3.0 ISC LGPL-2.1
    LGPL-3.0 LPPL-1.3c MIT MPL-2.0 MS-PL NCSA OFL-1.1 OSL-3.0 PostgreSQL Unlicense WTFPL Zlib
"""
_GNU: Final = ("AGPL-3.0", "GPL-2.0", "GPL-3.0", "LGPL-2.1", "LGPL-3.0")
_EXACT: Final = {f"{name}-{which}".lower(): f"{name}-{which}" for name in _GNU for which in ("only", "or-later")}
SPDX: Final = {name.lower(): name for name in _IDS.split()}
_DECLARED: Final = "declared"  # by whoever wrote the file; "concluded" would be ours


def licenses(said: str) -> tuple[LicenseChoice, ...]:
    """None where the file states none: that is no licence to do anything."""
    if not said.strip():
        return ()
    known = _EXACT.get(said.strip().lower()) or SPDX.get(hub.license_id(said) or "")
    stated = License(_DECLARED, id=known) if known else License(_DECLARED, name=clean(said.strip()))
    return (LicenseChoice(stated),)
