/// `coalesce: lastPut`: a PUT takes the place of an older one that was never sent.
///
/// Both put a whole representation at the same URL, so the older one would be overwritten anyway (RFC 9110
/// section 9.3.4), and both say the same about the state they expect. The newer one takes places once its body has
/// arrived whole, because a request that breaks off is never sent; it keeps its own turn. An older one goes its way
/// where dropping it might be noticed: if anything but a PUT came in between, to the same URL or in the same lane; if a
/// byte of it may have left; if other tickets wait for its response; and if it is a ticket and the newer one is not,
/// because what is accepted must not be lost with a client's connection.
struct LatestPuts: Sendable {
    /// A PUT that may take the place of older ones to its URL, or give its own to a newer one.
    private struct LatestPut: Sendable {
        var id: EntryID
        var sequence: Int
        var lane: String?
        var preconditions: String?
    }

    /// The newest PUT to each URL whose body is there whole, and those after it whose bodies are still arriving.
    private var puts: [String: [LatestPut]] = [:]

    var isEmpty: Bool { puts.isEmpty }

    /// A request has joined.
    mutating func add(_ entry: Entry) {
        guard entry.method == "PUT", entry.policy.coalesce == .lastPut else {
            if !isEmpty { puts[entry.url] = nil }
            return
        }
        puts[entry.url, default: []].append(
            LatestPut(id: entry.id, sequence: entry.sequence, lane: entry.lane, preconditions: entry.preconditions))
    }

    /// A request has ended.
    mutating func remove(_ entry: Entry) {
        puts[entry.url]?.removeAll { $0.id == entry.id }
        if puts[entry.url]?.isEmpty == true { puts[entry.url] = nil }
    }

    /// A PUT was moved to another lane. It is known only for its old lane which requests came in between, so all PUTs to its URL are
    /// forgotten.
    mutating func moved(_ entry: Entry) {
        if puts[entry.url]?.contains(where: { $0.id == entry.id }) == true { puts[entry.url] = nil }
    }

    /// The PUTs whose places a PUT that is there whole may take, the newest first.
    func older(than entry: Entry, _ lanes: Lanes) -> [EntryID] {
        guard let puts = puts[entry.url], let place = puts.firstIndex(where: { $0.id == entry.id }) else { return [] }
        let newer = puts[place]
        return puts[..<place].reversed().prefix { older in
            older.sequence < newer.sequence && older.lane == newer.lane && older.preconditions == newer.preconditions
                && !lanes.hasOther(after: older.sequence, in: newer.lane)
        }.map(\.id)
    }

    /// A PUT is there whole: a newer one is compared with it, and with none before it.
    mutating func forgetOlder(than entry: Entry) {
        guard let place = puts[entry.url]?.firstIndex(where: { $0.id == entry.id }) else { return }
        puts[entry.url]?.removeFirst(place)
    }
}
