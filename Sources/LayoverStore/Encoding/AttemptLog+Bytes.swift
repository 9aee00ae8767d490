import LayoverCore

/// The timeline of a ticket as bytes in its row. The first byte is the version of the format.
enum AttemptLogBytes {
    private static let version: UInt64 = 2
    /// Said nothing of the path of an attempt.
    private static let versionWithoutPath: UInt64 = 1

    /// Empty for an empty log.
    static func encode(_ log: AttemptLog) -> [UInt8] {
        guard !log.records.isEmpty || log.droppedCount > 0 else { return [] }
        var writer = ByteWriter()
        writer.write(version)
        writer.write(log.droppedCount)
        writer.write(log.records.count)
        for record in log.records { writer.write(record) }
        return writer.bytes
    }

    static func decode(_ bytes: UnsafeRawBufferPointer) throws(ByteReader.Malformed) -> AttemptLog {
        guard !bytes.isEmpty else { return AttemptLog() }
        var reader = ByteReader(bytes)
        let written = try reader.readUInt64()
        guard written == version || written == versionWithoutPath else { throw ByteReader.Malformed() }
        let droppedCount = try reader.readCount()
        var records: [AttemptRecord] = []
        for _ in 0..<max(0, try reader.readInt()) { records.append(try reader.readAttempt(hasPath: written == version)) }
        guard reader.isAtEnd else { throw ByteReader.Malformed() }
        return AttemptLog(records: records, droppedCount: droppedCount)
    }
}

extension ByteWriter {
    fileprivate mutating func write(_ record: AttemptRecord) {
        write(record.number)
        write(record.trigger)
        write(record.startedAt.nanoseconds)
        write(optional: record.endedAt) { $0.write($1.nanoseconds) }
        write(optional: record.failure) { $0.write($1) }
        write(optional: record.status) { $0.write($1) }
        write(optional: record.connection) { writer, connection in
            writer.write(connection.localAddress)
            writer.write(connection.remoteAddress)
            writer.write(connection.reusedConnection)
            writer.write(connection.bytesSent)
        }
        write(optional: record.verdict) { $0.write($1) }
        write(optional: record.path) { $0.write($1) }
    }
}

extension ByteReader {
    /// A count within a limit, so that adding to it cannot overflow.
    fileprivate mutating func readCount() throws(Malformed) -> Int {
        let count = try readInt()
        guard count >= 0, count <= RowReader.countMax else { throw Malformed() }
        return count
    }

    fileprivate mutating func readAttempt(hasPath: Bool) throws(Malformed) -> AttemptRecord {
        var record = AttemptRecord(
            number: try readCount(), trigger: try readName(), startedAt: Timestamp(nanoseconds: try readInt64()))
        record.endedAt = try readOptional { (reader) throws(Malformed) in
            Timestamp(nanoseconds: try reader.readInt64())
        }
        record.failure = try readOptional { (reader) throws(Malformed) in try reader.readFailure() }
        record.status = try readOptional { (reader) throws(Malformed) in try reader.readInt() }
        record.connection = try readOptional { (reader) throws(Malformed) in
            ConnectionFacts(
                localAddress: try reader.readOptionalText(), remoteAddress: try reader.readOptionalText(),
                reusedConnection: try reader.readBool(), bytesSent: try reader.readInt64())
        }
        record.verdict = try readOptional { (reader) throws(Malformed) in try reader.readVerdict() }
        if hasPath { record.path = try readOptional { (reader) throws(Malformed) in try reader.readName() } }
        return record
    }
}
