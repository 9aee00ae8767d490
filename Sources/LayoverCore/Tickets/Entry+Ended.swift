extension Entry {
    /// A ticket that ended so long ago, or in an earlier run, that only its record is left.
    ///
    /// - Parameter policy: The one that it would have now.
    package static func ended(_ record: TicketRecord, policy: Policy) -> Entry {
        Entry(record, policy: SharedPolicy(policy))
    }
}
