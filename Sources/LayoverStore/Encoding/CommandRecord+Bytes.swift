import LayoverCore

extension ByteWriter {
    mutating func write(_ command: CommandRecord) {
        write(command.name)
        write(command.author.who)
        write(command.author.from)
        write(command.at.nanoseconds)
        write(command.reason)
    }
}

extension ByteReader {
    mutating func readCommand() throws(Malformed) -> CommandRecord {
        CommandRecord(
            name: try readName(), author: CommandAuthor(who: try readText(), from: try readOptionalText()),
            at: Timestamp(nanoseconds: try readInt64()), reason: try readOptionalText())
    }
}
