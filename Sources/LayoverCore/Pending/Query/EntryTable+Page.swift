extension EntryTable {
    /// A page of the live entries in the order of their arrival. It costs no more than what it passes over.
    ///
    /// - Parameter described: Fills in what an entry waits for.
    mutating func page(
        of query: PendingQuery, limit: Int, naming: EntryNaming, described: (Entry) -> Entry
    ) -> PendingPage {
        let items = inOrder()
        let matcher = EntryMatcher(query.filter, naming)
        let isDescending = query.sort.isDescending
        var index = isDescending ? items.count - 1 : 0
        if let cursor = query.cursor?.place.sequence {
            // Descending goes on with what is before the cursor itself. A cursor comes from outside: no sum is made of it.
            index =
                isDescending
                ? ArrivalOrder.index(notBefore: cursor, in: items) - 1 : ArrivalOrder.index(behind: cursor, in: items)
        }
        var found: [Entry] = []
        while items.indices.contains(index), found.count <= limit {
            defer { index += isDescending ? -1 : 1 }
            guard let entry = self[items[index].id], entry.sequence == items[index].sequence, matcher.matches(entry)
            else { continue }
            found.append(described(entry))
        }
        guard found.count > limit, let last = found.prefix(limit).last else {
            return PendingPage(entries: found, nextCursor: nil)
        }
        return PendingPage(
            entries: Array(found.prefix(limit)),
            nextCursor: EntryCursor(after: query.sort.place(of: last, naming), in: query.sort))
    }
}
