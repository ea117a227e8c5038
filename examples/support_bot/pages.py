"""What the shop knows: its help pages and its orders."""

from __future__ import annotations

__all__ = ["ORDERS", "PAGES"]

PAGES = {
    "Refunds": "A refund takes five business days from the day on which the parcel is back.",
    "Shipping": "We ship to every country in Europe; a parcel is there after two to four days.",
    "Gift cards": "A gift card is valid for three years and cannot be exchanged for money.",
    "Passwords": "You can set a new password on the sign-in page, under 'Forgotten it?'.",
}

ORDERS = {
    "A-1042": {"order": "A-1042", "status": "shipped", "arrives": "on Thursday"},
    "B-7731": {"order": "B-7731", "status": "being packed", "arrives": "next week"},
}
