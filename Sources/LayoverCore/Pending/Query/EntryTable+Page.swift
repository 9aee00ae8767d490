extension EntryTable {
    /// The first places of the live entries in the order of their arrival, one more than the page has. It costs no more than what it
    /// passes over.
    mutating func places(of query: PendingQuery, limit: Int, naming: EntryNaming) -> [ListedPlace] {
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
        var found: [ListedPlace] = []
        while items.indices.contains(index), found.count <= limit {
            defer { index += isDescending ? -1 : 1 }
            guard let entry = self[items[index].id], entry.sequence == items[index].sequence, matcher.matches(entry)
            else { continue }
            found.append(ListedPlace(id: entry.id, place: query.sort.place(of: entry, naming)))
        }
        return found
    }

    /// Whether most entries match, as far as that is seen without looking at them.
    func isMatchedByMost(_ filter: EntryFilter) -> Bool {
        guard filter.text == nil, filter.host == nil, filter.method == nil, filter.lane == nil, filter.incident == nil,
            filter.isTicket == nil
        else { return false }
        return filter.states.reduce(0) { $0 + (stateCounts[$1] ?? 0) } > count / 2
    }
}
