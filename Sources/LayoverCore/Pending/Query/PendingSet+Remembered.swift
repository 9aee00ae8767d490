extension PendingSet {
    /// Entries that came to their end and are still remembered, in no order.
    package var rememberedEntries: some Collection<Entry> & Sendable { history.all }
}
