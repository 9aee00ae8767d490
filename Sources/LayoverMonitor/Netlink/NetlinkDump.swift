import CLinux

/// Asks the kernel for the whole picture of links, addresses and default routes.
struct NetlinkDump {
    /// What came of one table.
    private enum Outcome {
        case whole, interrupted, unanswered
    }

    private static let tables = [RTM_GETLINK, RTM_GETADDR, RTM_GETROUTE].map { UInt16($0) }

    /// A dump that is interrupted this often in a row is taken as it is: things change faster than they
    /// can be told, and the next change brings the next dump. Chosen: some milliseconds in all.
    private static let attemptCountMax = 10

    /// - Returns: Nil when the kernel does not answer or may not be asked.
    func picture() -> NetlinkTable? {
        // A socket of its own: nothing of an earlier dump can be mistaken for this one.
        guard let socket = try? NetlinkSocket.forDumps() else { return nil }
        for attempt in 1...Self.attemptCountMax {
            var picture = NetlinkTable()
            var isInterrupted = false
            for table in Self.tables {
                switch Self.read(table, from: socket, into: &picture) {
                case .whole: break
                case .interrupted: isInterrupted = true
                case .unanswered: return nil
                }
            }
            if !isInterrupted || attempt == Self.attemptCountMax { return picture }
        }
        return nil
    }

    private static func read(
        _ table: UInt16, from socket: NetlinkSocket, into picture: inout NetlinkTable
    ) -> Outcome {
        guard socket.requestDump(of: table) else { return .unanswered }
        var isInterrupted = false
        while case .messages(let messages) = socket.read() {
            for message in messages {
                switch message {
                // A table that cannot be had is left out (a kernel without IPv6, say).
                case .done, .failed: return isInterrupted ? .interrupted : .whole
                case .interrupted: isInterrupted = true
                default: picture.take(message)
                }
            }
        }
        return .unanswered
    }
}
