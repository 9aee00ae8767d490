package import LayoverCore
import LayoverText

/// The beginning of an id: 1 to 31 hexadecimal digits.
package struct EntryIDPrefix: Sendable, Hashable, CustomStringConvertible {
    package let description: String
    private let high: UInt64
    private let highMask: UInt64
    private let low: UInt64
    private let lowMask: UInt64

    /// Reads digits of lower case; nil for any other text, and for a complete id.
    package init?(_ text: String) {
        guard (1..<32).contains(text.utf8.count), text.utf8.allSatisfy(Hexadecimal.isLowercaseDigit) else { return nil }
        description = text
        let padded = text + String(repeating: "0", count: 32 - text.utf8.count)
        guard let id = EntryID(padded) else { return nil }
        (high, low) = (id.high, id.low)
        // A shift by the whole width gives 0.
        let bitCount = text.utf8.count * 4
        highMask = .max << UInt64(max(0, 64 - bitCount))
        lowMask = .max << UInt64(64 - max(0, bitCount - 64))
    }

    package func begins(_ id: EntryID) -> Bool { id.high & highMask == high && id.low & lowMask == low }
}

extension Engine {
    /// The ids of entries in memory: the live ones, and the newest that ended.
    private func idsInMemory() -> [EntryID] { pending.idsInOrder + pending.rememberedEntries.map(\.id) }

    /// The entries whose shown ids begin so: live, remembered, or tickets that are still in the store. In no order.
    package nonisolated func entryIDs(shownWith prefix: EntryIDPrefix) async throws(StoreFailure) -> [EntryID] {
        // Of very many entries this takes a second, so it runs beside the engine.
        var ids = Set(await idsInMemory().filter { prefix.begins(naming.shown($0)) })
        // That another one of a million ids begins with the same 48 bits has a chance of 1 in 280 million.
        if ids.count == 1, prefix.description.utf8.count >= 12 { return Array(ids) }
        guard let store, store.isOpen else { return Array(ids) }
        do throws(StoreFailure) {
            ids.formUnion(try await store.ids().filter { prefix.begins(naming.shown($0)) })
        } catch {
            // With a damaged store, what is in memory can still be named.
            if ids.isEmpty { throw error }
        }
        return Array(ids)
    }
}
