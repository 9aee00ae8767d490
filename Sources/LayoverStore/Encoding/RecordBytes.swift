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

extension ByteWriter {
    mutating func write(_ command: CommandRecord) {
        write(command.name)
        write(command.author)
        write(command.at.nanoseconds)
        write(command.reason)
    }

    mutating func write(_ settlement: Settlement) {
        write(settlement.author)
        write(settlement.at.nanoseconds)
        write(optional: settlement.outcome.status) { $0.write($1) }
        write(settlement.outcome.note)
    }

    private mutating func write(_ author: CommandAuthor) {
        write(author.who)
        write(author.from)
    }
}

extension ByteReader {
    mutating func readCommand() throws(Malformed) -> CommandRecord {
        CommandRecord(
            name: try readName(), author: try readAuthor(), at: Timestamp(nanoseconds: try readInt64()),
            reason: try readOptionalText())
    }

    mutating func readSettlement() throws(Malformed) -> Settlement {
        Settlement(
            author: try readAuthor(), at: Timestamp(nanoseconds: try readInt64()),
            outcome: .init(
                status: try readOptional { (reader) throws(Malformed) in try reader.readInt() }, note: try readOptionalText()))
    }

    private mutating func readAuthor() throws(Malformed) -> CommandAuthor {
        CommandAuthor(who: try readText(), from: try readOptionalText())
    }
}

extension ByteWriter {
    mutating func write(_ verdict: Verdict) {
        switch verdict {
        case .againOnNewConnection:
            write(UInt64(0))
        case .park(let parking):
            write(UInt64(1))
            write(parking.delay.components.seconds)
            write(parking.delay.components.attoseconds)
            write(parking.shutsGate)
            write(optional: parking.asks) { $0.write($1) }
            write(parking.rule)
        case .deliver(let reason):
            write(UInt64(2))
            write(reason)
        case .standIn(let response):
            write(UInt64(3))
            write(response.status)
            write(response.fields.count)
            for field in response.fields {
                write(field.name)
                write(field.value.revealed)
            }
            write(response.body)
        case .fail(let reason):
            write(UInt64(4))
            write(reason)
        }
    }
}

extension ByteReader {
    mutating func readVerdict() throws(Malformed) -> Verdict {
        switch try readUInt64() {
        case 0: return .againOnNewConnection
        case 1: return .park(try readParking())
        case 2: return .deliver(try readName())
        case 3: return .standIn(try readStandIn())
        case 4: return .fail(try readName())
        default: throw Malformed()
        }
    }

    private mutating func readParking() throws(Malformed) -> Verdict.Parking {
        let delay = Duration(secondsComponent: try readInt64(), attosecondsComponent: try readInt64())
        return Verdict.Parking(
            delay: delay, shutsGate: try readBool(),
            asks: try readOptional { (reader) throws(Malformed) in try reader.readName() }, rule: try readName())
    }

    private mutating func readStandIn() throws(Malformed) -> StandInResponse {
        var response = StandInResponse(status: try readInt())
        for _ in 0..<max(0, try readInt()) {
            response.fields.append(Route.Field(name: try readText(), value: try readText()))
        }
        response.body = try readText()
        return response
    }
}

extension ByteWriter {
    mutating func write(_ failure: Failure) {
        write(failure.phase)
        write(failure.kind)
        write(failure.evidence)
        write(failure.message)
        write(optional: failure.curlCode) { $0.write(Int64($1)) }
        write(optional: failure.osError) { $0.write(Int64($1)) }
        write(failure.bytesSent)
        write(failure.reusedConnection)
        write(failure.localAddress)
        write(failure.remoteAddress)
        write(failure.isNameUnknown)
    }
}

extension ByteReader {
    mutating func readFailure() throws(Malformed) -> Failure {
        Failure(
            phase: try readName(), kind: try readName(), evidence: try readName(), message: try readText(),
            curlCode: try readOptional { (reader) throws(Malformed) in try reader.readInt32() },
            osError: try readOptional { (reader) throws(Malformed) in try reader.readInt32() },
            bytesSent: try readInt64(), reusedConnection: try readBool(), localAddress: try readOptionalText(),
            remoteAddress: try readOptionalText(), isNameUnknown: try readBool())
    }
}
