import LayoverCore

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
