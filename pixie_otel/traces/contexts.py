"""What the records of an index have in common: kept on disk, as every line may have a resource of its own."""

from __future__ import annotations

from array import array
from typing import Final, NamedTuple

from pixie_otel.traces.record import Origin
from pixie_otel.traces.stored import Spool
from pixie_otel.traces.stores import Store

__all__ = ["Contexts", "Entry"]

_MOST_NUMBERS: Final = 1024
_MOST_ENTRIES: Final = 1024
_MOST_BYTES: Final = 4 * 1024 * 1024
_FIELDS: Final = 4


class Entry(NamedTuple):
    """What a context number of the index means.

    Attributes:
        store: Where the record lies.
        origin: Its input, resource and scope.
        plain: Whether what stands before the attributes is all that a tree needs of the span.
    """

    store: Store
    origin: Origin
    plain: bool


class Contexts:
    """Numbers for combinations of store, input, resource and scope; few of them are held at a time.

    Args:
        spool: Keeps resources and scopes.
    """

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._places: list[tuple[Store, str]] = []
        self._rows = array("Q")
        self._numbers: dict[tuple[int, str, bytes, bytes, int], int] = {}
        self._number_bytes = 0
        self._entries: dict[int, Entry] = {}
        self._entry_bytes = 0
        self._scope_names: dict[tuple[int, ...], frozenset[str]] = {}

    def number(
        self, store: Store, source: str, resource: bytes, scope: bytes, *, logs: bool = False, plain: bool = False
    ) -> int:
        """Give the number of a combination, one that it had before where that is still known.

        Args:
            store: Where the records lie.
            source: The input's name.
            resource: The resource's JSON.
            scope: The scope's JSON.
            logs: Whether the records are log records.
            plain: Whether they are spans of which `Entry.plain` is true.
        """
        flags = plain << 1 | logs
        known = (id(store), source, resource, scope, flags)
        number = self._numbers.get(known)
        if number is None:
            size = len(resource) + len(scope)
            if len(self._numbers) >= _MOST_NUMBERS or self._number_bytes + size > _MOST_BYTES:
                self._numbers.clear()
                self._number_bytes = 0
            self._number_bytes += size
            number = self._numbers[known] = self._put(store, source, resource, scope, flags)
        return number

    def entry(self, number: int) -> Entry:
        """Give what a number means.

        Args:
            number: A number that `number` gave.
        """
        entry = self._entries.get(number)
        if entry is None:
            place, offset, resource_length, scope_length = self._rows[number * _FIELDS : (number + 1) * _FIELDS]
            store, source = self._places[place >> 2]
            data = self._spool.read_at(offset, resource_length + scope_length)
            origin = Origin(source, data[:resource_length], data[resource_length:], logs=bool(place & 1))
            entry = Entry(store, origin, plain=bool(place & 2))
            if len(self._entries) >= _MOST_ENTRIES or self._entry_bytes + len(data) > _MOST_BYTES:
                self._entries.clear()
                self._entry_bytes = 0
            self._entry_bytes += len(data)
            self._entries[number] = entry
        return entry

    def scope_names(self, numbers: tuple[int, ...]) -> frozenset[str]:
        """Give the names of the scopes of several combinations.

        Args:
            numbers: Numbers that `number` gave; the same ones come again and again.
        """
        names = self._scope_names.get(numbers)
        if names is None:
            if len(self._scope_names) >= _MOST_ENTRIES:
                self._scope_names.clear()
            names = self._scope_names[numbers] = frozenset(self.entry(number).origin.scope.name for number in numbers)
        return names

    def _put(self, store: Store, source: str, resource: bytes, scope: bytes, flags: int) -> int:
        # Inputs are read one after another, each with its own store beside the one for what was salvaged.
        last = self._places[-2:]
        place = (store, source)
        if place not in last:
            self._places.append(place)
        position = len(self._places) - 1 if self._places[-1] == place else len(self._places) - 2
        number = len(self._rows) // _FIELDS
        self._rows.extend((position << 2 | flags, self._spool.size, len(resource), len(scope)))
        self._spool.append(resource + scope)
        return number
