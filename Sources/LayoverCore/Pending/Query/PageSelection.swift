/// The first entries of a page, found while all are passed by.
///
/// Only as many are kept and sorted as the page needs, a few times over: of 100 000 entries most are behind the last one of the page,
/// which one comparison tells.
struct PageSelection {
    private struct Kept {
        var entry: Entry
        var place: EntrySort.Place
    }

    private let sort: EntrySort
    private let cursor: EntryCursor?
    private let naming: EntryNaming
    /// Nil: all.
    private let limit: Int?
    private var kept: [Kept] = []
    /// The place of the last one that the page may need; nil while there are too few.
    private var last: EntrySort.Place?

    init(_ query: PendingQuery, _ naming: EntryNaming) {
        sort = query.sort
        cursor = query.cursor
        limit = query.limit.flatMap { $0 > 0 ? $0 : nil }
        self.naming = naming
    }

    mutating func add(_ entry: Entry) {
        guard !isBehindTheLast(entry) else { return }
        let place = sort.place(of: entry, naming)
        if let cursor, !sort.isBefore(cursor.place, place) { return }
        if let last, !sort.isBefore(place, last) { return }
        kept.append(Kept(entry: entry, place: place))
        // One more than is shown, to know whether there is another page.
        if let limit, kept.count > 4 * (limit + 1) { cut(to: limit + 1) }
    }

    /// A URL is masked before it is compared, which takes longer than all else. Most need not be: their paths tell.
    private func isBehindTheLast(_ entry: Entry) -> Bool {
        guard sort.field == .url, case .text(let lastURL)? = last?.key else { return false }
        var url = entry.url
        guard url.withUTF8(MaskedURL.hasPlainHead) else { return false }
        let order = URLOrder.compareHeads(url, lastURL)
        return sort.isDescending ? order < 0 : order > 0
    }

    private mutating func cut(to count: Int) {
        kept.sort { sort.isBefore($0.place, $1.place) }
        kept.removeLast(max(0, kept.count - count))
        last = kept.last?.place
    }

    consuming func page() -> PendingPage {
        guard let limit else {
            kept.sort { sort.isBefore($0.place, $1.place) }
            return PendingPage(entries: kept.map(\.entry), nextCursor: nil)
        }
        cut(to: limit + 1)
        let shown = kept.prefix(limit)
        return PendingPage(
            entries: shown.map(\.entry),
            nextCursor: kept.count > limit ? shown.last.map { EntryCursor(after: $0.place, in: sort) } : nil)
    }
}
