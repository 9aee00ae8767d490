extension PendingSet {
    /// A page of the list. In the order of arrival it costs no more than what it passes over; in any other order
    /// all entries are looked at.
    package mutating func page(of query: PendingQuery, now: Timestamp) -> PendingPage {
        guard query.sort.field == .parkedAt, let limit = query.limit, limit > 0,
            !query.filter.states.contains(where: \.isFinal)
        else { return query.page(of: candidates(of: query, now: now), naming: naming) }
        let items = entries.inOrder()
        let matcher = EntryMatcher(query.filter, naming)
        let cursor = query.cursor?.place.sequence
        let isDescending = query.sort.isDescending
        var index = isDescending ? items.count - 1 : 0
        if let cursor {
            // Descending goes on with what is before the cursor itself. A cursor comes from outside: no sum is made of it.
            index =
                isDescending
                ? ArrivalOrder.index(notBefore: cursor, in: items) - 1 : ArrivalOrder.index(behind: cursor, in: items)
        }
        var found: [Entry] = []
        while items.indices.contains(index), found.count <= limit {
            defer { index += isDescending ? -1 : 1 }
            guard let entry = entries[items[index].id], entry.sequence == items[index].sequence,
                matcher.matches(entry)
            else { continue }
            found.append(described(entry, now: now))
        }
        guard found.count > limit, let last = found.prefix(limit).last else {
            return PendingPage(entries: found, nextCursor: nil)
        }
        return PendingPage(
            entries: Array(found.prefix(limit)),
            nextCursor: EntryCursor(after: query.sort.place(of: last, naming), in: query.sort))
    }

    private func candidates(of query: PendingQuery, now: Timestamp) -> [Entry] {
        let states = query.filter.states
        let live = states.allSatisfy(\.isFinal) ? [] : entries.values.map { described($0, now: now) }
        return states.contains(where: \.isFinal) ? live + rememberedEntries : live
    }
}
