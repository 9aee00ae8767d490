package import LayoverCore

/// A page of a list: what was in memory as it stood, and by their ids the final tickets that only the store has.
package struct EntryListing: Sendable {
    package enum Item: Sendable {
        case known(Entry)
        case stored(EntryID)
    }

    package var items: [Item]
    /// Nil: there is no more.
    package var nextCursor: EntryCursor?
}

extension Engine {
    /// A page of the list, with the final tickets that only the store has.
    package func list(_ query: PendingQuery) async throws(StoreFailure) -> EntryListing {
        let page = page(of: query)
        guard let store, query.filter.mayMatchStored else {
            return EntryListing(items: page.entries.map(EntryListing.Item.known), nextCursor: page.nextCursor)
        }
        let stored = try await store.ended(query.shifted(by: ticketClock), naming: naming)
        return EntryListing(query, page, stored: query.shifted(stored, by: -ticketClock), naming: naming)
    }

    /// The entries of a part of a listing. A ticket whose time in the history is over meanwhile is left out.
    package func entries(of items: some Collection<EntryListing.Item> & Sendable) async throws(StoreFailure) -> [Entry] {
        let ids = items.compactMap { if case .stored(let id) = $0 { id } else { nil } }
        var loaded: [EntryID: Entry] = [:]
        if let store, !ids.isEmpty {
            for record in try await store.records(of: ids) {
                let record = record.shifted(by: -ticketClock)
                loaded[record.id] = .ended(record, policy: routes.standing(of: record).policy)
            }
        }
        return items.compactMap { item in
            switch item {
            case .known(let entry): entry
            case .stored(let id): loaded[id]
            }
        }
    }
}

extension EntryListing {
    /// - Parameters:
    ///   - page: What is in memory.
    ///   - stored: What the store has, in the order of the query, and one more than a page if there are more.
    init(_ query: PendingQuery, _ page: PendingPage, stored: [ListedPlace], naming: EntryNaming) {
        let known = Dictionary(page.entries.map { ($0.id, $0) }) { first, _ in first }
        let places = page.entries.map { ListedPlace(id: $0.id, place: query.sort.place(of: $0, naming)) }
        let (shown, nextCursor) = query.cut(query.merge(places, stored))
        items = shown.map { place in known[place.id].map(Item.known) ?? .stored(place.id) }
        // Where the store adds nothing behind a full page, memory knows whether there is more.
        self.nextCursor = nextCursor ?? page.nextCursor
    }
}
