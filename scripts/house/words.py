"""Words that are gone, because they had several meanings, or none for a reader. Identifiers and comments of `Sources` and `Tests`
must not have them.

A word is a whole word or a part of a camel-case name, with a plural: `hop` is in `toldHop`, `hops` and `Hop`, not in `shop`. Strings do not
count: what is on disk or in the API keeps its name.
"""

import re
from dataclasses import dataclass

# What stands for itself and is not the word: spellings of others, by regular expressions without regard to case.
OF_OTHERS = {
    # Fields (RFC 9110 section 7.6.1), gateways and recipients (RFC 9110 section 7.6.2), and NIO's change of an event loop.
    "hop": r"hop[- ]?by[- ]?hop|(?:next|last) ?hops?|\.hop\(to:|\bhops? (?:there|to)\b",
    # A program of git.
    "backend": r"http-backend",
    "ProxyRules": r"ParentProxyRules",
}

# The word, and what to say instead.
GONE = {
    "hop": "parentProxyGate",
    "ParentUse": "ParentProxyUse",
    "listenToParent": "listenToLauncher",
    "untold": "ticketNeverAnnounced",
    "lesson": "lateEvidence",
    "AnswerCache": "ResponseCache",
    "dropAnswer": "dropResponse",
    "goOnAlone": "adopt",
    "leaveBehind": "clientClosedWhileWaiting",
    "isLetFinish": "finishesWithoutClient",
    "letKeptGo": "releaseWithheld",
    "backend": "origin, or the name of the thing",
    "helper": "the name of what it does",
    "util": "the name of what it does",
    "ConnectionExchange": "ConnectionTask",
    "ReloadableRules": "ReloadableConfiguration",
    "ProxyRules": "ProxyConfiguration",
    "TicketStanding": "TicketView",
    "StandingDocument": "PresentStateDocument",
    "keepsTickets": "storesTickets",
    "mayBeKept": "mayBeStored",
    "keepingFailure": "storingFailure",
    "takeKept": "takePutAside",
    "keptFromPortal": "waitingForPortal",
    "OfferedResponse": "WithheldResponse",
    "forgetOffered": "forgetWithheld",
    "keepBack": "withhold",
    "offersHTTP2": "supportsHTTP2",
    "settleAndTell": "updateAndTell",
    "isAtRest": "isPaused, isStoredOnly",
    "isTicketAtRest": "isStoredOnly",
    "RepeatedAnswer": "RepeatedResponse",
    "AnswerTooLarge": "ResponseTooLarge",
    "hasBrokenAnswer": "hasBrokenResponse",
    "AnswerReader": "ResponseReader",
    "CompressedAnswer": "CompressedResponse",
}


@dataclass
class Word:
    word: str
    instead: str

    def __post_init__(self):
        first, rest = self.word[0], self.word[1:]
        self.folded = self.word.lower()
        self.pattern = re.compile(rf"(?<![A-Za-z]){first.lower()}{rest}s?(?![a-z])|{first.upper()}{rest}s?(?![a-z])")
        self.of_others = re.compile(OF_OTHERS[self.word], re.I) if self.word in OF_OTHERS else None

    def offsets(self, text):
        """Where the word stands, apart from where it is that of others."""
        taken = [match.span() for match in self.of_others.finditer(text)] if self.of_others else []
        for match in self.pattern.finditer(text):
            if not any(start <= match.start() < end for start, end in taken):
                yield match.start()


def breaches(tree, gone=None):
    words = [Word(*pair) for pair in (GONE if gone is None else gone).items()]
    for file in tree.sources + tree.tests:
        folded = file.text.lower()
        for word in words:
            if word.folded not in folded:
                continue
            offsets = set(word.offsets(file.code))
            for start, comment in file.comments:
                offsets |= {start + offset for offset in word.offsets(comment)}
            for line in sorted({file.line(offset) for offset in offsets}):
                yield file.name, line, f"'{word.word}' is gone: say {word.instead}"
        for word in words:
            if word.pattern.search(file.name) and not (word.of_others and word.of_others.search(file.name)):
                yield file.name, 1, f"'{word.word}' is gone, also from names of files: say {word.instead}"
