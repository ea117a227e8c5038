"""The attribute keys of Spring AI."""

from __future__ import annotations

from typing import Final

__all__ = [
    "CONVERSATION_ID",
    "KIND",
    "QUERY",
    "QUERY_CONTENT",
    "QUERY_DOCUMENTS",
    "SYSTEM_TEXT",
    "TOOL_CALL_ARGUMENTS",
    "TOOL_CALL_ID",
    "TOOL_CALL_RESULT",
    "TOOL_DESCRIPTION",
    "TOOL_NAME",
    "USER_TEXT",
]

KIND: Final = "spring.ai.kind"
CONVERSATION_ID: Final = "spring.ai.chat.client.conversation.id"
SYSTEM_TEXT: Final = "spring.ai.chat.client.system.text"
USER_TEXT: Final = "spring.ai.chat.client.user.text"
TOOL_NAME: Final = "spring.ai.tool.definition.name"
TOOL_DESCRIPTION: Final = "spring.ai.tool.definition.description"
TOOL_CALL_ID: Final = "spring.ai.tool.call.id"
TOOL_CALL_ARGUMENTS: Final = "spring.ai.tool.call.arguments"
TOOL_CALL_RESULT: Final = "spring.ai.tool.call.result"
QUERY: Final = "db.vector.query"
"""How the keys of a query begin."""
QUERY_CONTENT: Final = "db.vector.query.content"
QUERY_DOCUMENTS: Final = "db.vector.query.response.documents"
