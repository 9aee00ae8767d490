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
        }
    }

    @Test func longURLOfATicketIsCutOnceItsEndIsOnDisk() throws {
        var history = EntryHistory(countMax: 2)
        var ended = entries(2)
        for index in ended.indices { ended[index].ticket = TicketFacts(wish: PolicyWish()) }
        ended[0].request.url = "http://o.test/" + String(repeating: "a", count: 6 << 10)
        for entry in ended { history.remember(entry) }
        let (long, short) = (ended[0], ended[1])
        #expect(history[long.id]?.url == long.url, "its end is written with it")
        #expect(history[long.id]?.request.isURLInStore == false)
        for _ in 1...2 {
            for entry in ended { history.urlIsStored(of: entry.id) }
            let cut = try #require(history[long.id])
            #expect(cut.url == long.url.prefix(EntryHistory.ticketURLByteCountMax) + "…")
            #expect(cut.request.isURLInStore)
            #expect(cut.memoryByteCount <= long.memoryByteCount - (6 << 10) + EntryHistory.ticketURLByteCountMax)
        }
        #expect(history[short.id]?.request == short.request)
        #expect(PendingSet.cutsURL(long.url) && !PendingSet.cutsURL(short.url))
    }

    /// The texts of 10 000 tickets with the longest heads would take 640 MB.
    @Test func urlsOfRememberedTicketsAreBounded() {
        let count = 100
        var history = EntryHistory(countMax: count)
        for entry in entries(count) {
            var long = entry
            long.ticket = TicketFacts(wish: PolicyWish())
            // Beyond ASCII a second text is kept, for searches.
            long.request.url = "http://o.test/" + String(repeating: "%C3%A9", count: 10_000)
            long.foldTarget()
            history.remember(long)
            history.urlIsStored(of: long.id)
        }
        let byteCount = history.all.reduce(0) { $0 + $1.memoryByteCount - MemoryLayout<Entry>.size }
        #expect(byteCount < count * 4 << 10, "\(byteCount / count) bytes of texts per ticket")
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
