import LayoverCore

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
