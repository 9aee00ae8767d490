import LayoverCore

extension StatementBinder {
    /// Three columns.
    mutating func bind(_ origin: Origin) {
        bind(origin.scheme)
        bind(origin.host)
        bind(origin.port)
    }
}

extension RowReader {
    mutating func origin() throws(StoreError) -> Origin {
        Origin(scheme: try name(), host: text(), port: int())
    }
}
