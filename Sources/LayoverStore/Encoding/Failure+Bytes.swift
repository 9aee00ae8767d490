import LayoverCore

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
