import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

extension ClientConnection {
    /// A response begins.
    func responds(_ status: Int, from source: AccessRecord.Source) {
        loop.metrics.countResponse(status: status)
        guard let access else { return }
        access.status = status
        access.source = source
        access.respondedAt = loop.engine.clock.now()
    }

    /// The exchange is over for its client. Only the first call says how.
    func finishAccess(_ outcome: AccessRecord.Outcome) {
        if let record = takeAccess() { loop.accessLog?.write(record, outcome) }
    }

    /// Takes the record of the exchange, with the facts of its attempts. The caller reports the end of the exchange.
    func takeAccess() -> AccessRecord? {
        guard let record = access else { return nil }
        access = nil
        exchange?.describe(in: record)
        return record
    }
}

extension ClientRecipient {
    func describe(in record: AccessRecord) {
        guard let exchange else { return }
        record.attemptCount = exchange.machine.rules.attemptCount
        record.failure = exchange.lastFailure
    }
}

extension Exchange {
    /// Notes that the exchange has its place in the pending set.
    func noteParked(as id: EntryID) {
        guard loop.accessLog != nil, let record = client?.connection?.access else { return }
        record.isParked = true
        record.entry = loop.engine.naming.shown(id)
    }
}

extension AccessLog {
    /// - Parameter intercepted: The origin of an intercepted connection.
    func record(
        _ head: RequestHead, from client: String, _ intercepted: Origin?, isSecure: Bool
    ) -> AccessRecord {
        AccessRecord(head, from: client, intercepted, isSecure: isSecure, at: clock.now())
    }

    func malformed(_ input: ByteBuffer, from client: String) -> AccessRecord {
        AccessRecord(UnreadableRequest(input), from: client, at: clock.now())
    }
}
