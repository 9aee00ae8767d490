package import LayoverCore

extension NewEntry {
    /// A new entry of a test, with what most of them leave out.
    package init(
        id: EntryID, method: String, url: String, origin: Origin, route: String? = nil, policy: Policy = .standard,
        client: Entry.Client, createdAt: Timestamp, attemptCount: Int = 0, automaticLeft: Int? = nil, requestByteCount: Int = 0,
        isBodyReplayable: Bool = true, isExposed: Bool = false, attempts: [AttemptRecord] = [], failure: Failure? = nil,
        parking: Verdict.Parking
    ) {
        self.init(
            RequestDescription(id: id, method: method, url: url, origin: origin, createdAt: createdAt, isExposed: isExposed),
            client: client, route: route, policy: policy,
            AttemptTally(
                AttemptCounts(all: attemptCount), automaticLeft: automaticLeft, isBodyReplayable: isBodyReplayable,
                records: attempts),
            requestByteCount: requestByteCount, failure: failure, parking: parking)
    }
}
