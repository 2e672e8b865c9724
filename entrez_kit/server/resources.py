"""Resources: what the server is and how it does, statistics of databases, and the guides."""

import base64
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from mcp_types import (
    INVALID_PARAMS,
    BlobResourceContents,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)
from mcp_types.version import KNOWN_PROTOCOL_VERSIONS

from entrez_kit._version import __version__
from entrez_kit.databases.info import DatabaseInfo, entrez_info, InfoRequest
from entrez_kit.errors import EntityNotFound, EntrezKitError
from entrez_kit.guides import Guide, read_guide, topics
from entrez_kit.server.clients import ServerServices
from entrez_kit.server.tools import SCOPE_PREFIX

INFO_URI: Final = "pubmed-connect://info"
STATS_URI: Final = "pubmed-connect://stats/"
GUIDE_URI: Final = "pubmed-connect://guide/"
STATS_TEMPLATE: Final = f"{STATS_URI}{{database}}"
GUIDE_TEMPLATE: Final = f"{GUIDE_URI}{{topic}}"
