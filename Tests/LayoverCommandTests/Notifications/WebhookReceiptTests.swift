import LayoverCore
import LayoverEngine
import Logging
import NIOPosix
import Testing

@testable import layover

/// The body of a notification counts in `limits.spoolTotal` for as long as its ticket has it.
struct WebhookReceiptTests {
    private static let id: EntryID = {
        var generator = SystemRandomNumberGenerator()
        return EntryID(using: &generator)
    }()

    @Test(
        arguments: [
            (.accepted(id, nil), 10), (.refused(limit: "limits.entries", value: 1), 0), (.notStored(id, StoreFailure(.full, "Full.")), 0),
            (.notStored(id, StoreFailure(.io, "Broken.", mayBeStored: true)), 10), (.draining, 0),
        ] as [(AcceptanceResult, Int)])
    func bodyOfANotificationThatIsNotKeptIsNotCounted(result: AcceptanceResult, left: Int) {
        let spool = BodySpool(folder: "/nonexistent", byteCountMax: 1 << 20, threads: .singleton)
        spool.countStored(10)
        WebhookReceipt(spool: spool, byteCount: 10, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })).acceptance(result)
        #expect(spool.usedByteCount == left)
    }
}
