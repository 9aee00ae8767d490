import LayoverCore
import LayoverEngine
import Logging
import NIOPosix
import ServiceLifecycle
import Testing

@testable import LayoverAdmin

struct AdminServiceTests {
    @Test func takenPortIsOneClearError() async throws {
        let harness = AdminHarness()
        let (ports, found) = AsyncStream<Int>.makeStream()
        let first = Self.group(harness, port: 0) { found.yield($0) }
        let running = Task { try await first.run() }
        var listening = ports.makeAsyncIterator()
        let port = try #require(await listening.next())

        let error = await #expect(throws: AdminError.self) {
            try await Self.group(harness, port: port) { _ in }.run()
        }
        #expect(
            error?.description
                == "admin.listen: cannot listen on 127.0.0.1:\(port): the address is already in use")

        await first.triggerGracefulShutdown()
        try await running.value
    }

    @Test func addressOfAnotherMachineIsOneClearError() async throws {
        let harness = AdminHarness()
        // Set aside for documentation (RFC 5737), so no machine has it.
        let error = await #expect(throws: AdminError.self) {
            try await Self.group(harness, host: "192.0.2.1", port: 8081) { _ in }.run()
        }
        #expect(error?.description.hasSuffix("this machine does not have the address") == true)
    }

    /// Runs the admin port for as long as the work takes.
    static func serving(_ harness: AdminHarness, _ work: (_ port: Int) async throws -> Void) async throws {
        let (ports, found) = AsyncStream<Int>.makeStream()
        let group = group(harness, port: 0) { found.yield($0) }
        let running = Task { try await group.run() }
        var listening = ports.makeAsyncIterator()
        let port = try #require(await listening.next())
        try await work(port)
        await group.triggerGracefulShutdown()
        try await running.value
    }

    private static func group(
        _ harness: AdminHarness, host: String = "127.0.0.1", port: Int,
        onListening: @escaping @Sendable (Int) async -> Void
    ) -> ServiceGroup {
        var options = AdminOptions()
        options.host = host
        options.port = port
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let service = AdminService(
            options: options, sources: harness.sources, logger: logger, onListening: onListening)
        return ServiceGroup(configuration: .init(services: [.init(service: service)], logger: logger))
    }
}
