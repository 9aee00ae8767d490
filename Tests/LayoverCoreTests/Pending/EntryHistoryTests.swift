import LayoverTestSupport
import Testing

@testable import LayoverCore

struct EntryHistoryTests {
    /// Ended entries, the oldest first.
    private func entries(_ count: Int) -> [Entry] {
        var bench = PendingBench()
        return (0..<count).compactMap { _ in
            let id = bench.parked()
            _ = bench.end(id, as: .failed, failure: .refused)
            return bench.set.entry(id, now: bench.now)
        }
    }

    @Test func theNewestEntriesAreRememberedAndNoOthers() {
        var history = EntryHistory(countMax: 10)
        let entries = entries(37)
        for entry in entries { history.remember(entry) }
        #expect(Set(history.all.map(\.id)) == Set(entries.suffix(10).map(\.id)))
        for entry in entries.suffix(10) { #expect(history[entry.id]?.id == entry.id) }
        for entry in entries.prefix(27) { #expect(history[entry.id] == nil) }
    }

    @Test func aLongURLIsCut() {
        var history = EntryHistory(countMax: 1)
        for entry in entries(1) {
            var long = entry
            long.request.url = "http://o.test/" + String(repeating: "a", count: 60_000)
            history.remember(long)
            #expect(history[entry.id]?.url == long.url.prefix(EntryHistory.urlByteCountMax) + "…")
            long.ticket = TicketFacts(wish: PolicyWish())
            history.remember(long)
            #expect(history[entry.id]?.url == long.url, "the store has it by this one")
        }
    }

    @Test func truncatedTextShowsNoPartOfATicketID() {
        var history = EntryHistory(countMax: 1)
        for entry in entries(1) {
            var long = entry
            let start = "http://o.test/" + String(repeating: "a", count: EntryHistory.urlByteCountMax - 40)
            long.request.url = start + "/~ticket.0123456789abcdef0123456789abcdef.location~" + String(repeating: "b", count: 100)
            history.remember(long)
            #expect(history[entry.id]?.url.contains("0123") == false)
        }
    }

    @Test func changeAppliesOnlyToItsEntry() {
        var history = EntryHistory(countMax: 3)
        let entries = entries(5)
        for entry in entries { history.remember(entry) }
        history.change(entries[3].id) { $0.revision = 77 }
        history.change(entries[0].id) { $0.revision = 78 }
        #expect(history.all.map(\.revision).filter { $0 > 76 } == [77])
        #expect(history[entries[3].id]?.revision == 77)
    }

    @Test func anEntryThatEndsTwiceTakesOnePlace() {
        var history = EntryHistory(countMax: 3)
        let entries = entries(3)
        for entry in entries + entries { history.remember(entry) }
        #expect(history.all.count == 3)
    }

    /// 10 000 of them are kept: what one takes counts. The attempts, up to 50, and the texts come on top.
    @Test func anEntryTakesLessThanOneKibibyteByItself() {
        print("An entry: \(MemoryLayout<Entry>.stride) bytes; an attempt: \(MemoryLayout<AttemptRecord>.stride) bytes.")
        #expect(MemoryLayout<Entry>.stride < 1024)
    }
}
