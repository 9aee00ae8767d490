import Foundation
package import LayoverCore
package import LayoverEngine
import NIOCore

/// The contract of every store. Tests run each check over each kind of store.
package enum PendingStoreContract {
    /// Opens the store of a folder, which is new or was closed. Bodies lie in its folder `spool`.
    package typealias Opening = @Sendable (_ folder: String) async throws -> any PendingStore

    /// One thing that has to hold.
    package struct Check: Sendable, CustomStringConvertible {
        package var name: String
        var body: @Sendable (ContractRoom) async throws -> Void

        package var description: String { name }

        /// A check that opens its store once.
        static func inOneStore(_ name: String, _ body: @escaping @Sendable (any PendingStore) async throws -> Void) -> Check {
            Check(name: name) { room in try await room.withStore(body) }
        }

        /// Throws a `ContractBreach` if it does not hold.
        ///
        /// - Parameter folder: Empty, and nobody else's.
        package func run(in folder: String, open: @escaping Opening) async throws {
            try FileManager.default.createDirectory(atPath: folder + "/spool", withIntermediateDirectories: true)
            try await body(ContractRoom(folder: folder, open: open))
        }
    }

    static let mark = IdempotencyMark(key: Array(repeating: 1, count: 32), payload: Array(repeating: 2, count: 32))

    package static let checks: [Check] = acceptance + changes + bodies + history + lists + order
}

/// Where one check works: a folder, and the way to open its store.
struct ContractRoom {
    let folder: String
    let open: PendingStoreContract.Opening

    /// Runs on a store, and closes it.
    @discardableResult
    func withStore<Value>(_ body: (any PendingStore) async throws -> Value) async throws -> Value {
        let store = try await open(folder)
        return try await ending({ await store.close() }, after: { try await body(store) })
    }

    func makeFile(_ name: String, _ bytes: [UInt8] = [1, 2, 3]) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: "\(folder)/spool/\(name)"))
    }

    func hasFile(_ name: String) -> Bool {
        FileManager.default.fileExists(atPath: "\(folder)/spool/\(name)")
    }
}

extension PendingStore {
    /// The records of all live tickets.
    package func live() throws -> [TicketRecord] {
        var records: [TicketRecord] = []
        try readLive { records += $0 }
        return records
    }

    /// One change by itself.
    func apply(_ change: StoreChange) async throws -> StoreResult? { try await commit([change]).first }
}

/// A breach of the contract by a store.
package struct ContractBreach: Error, CustomStringConvertible {
    package var description: String
}

/// Throws where something does not hold.
func require(_ holds: Bool, _ sentence: String, line: Int = #line, file: StaticString = #fileID) throws {
    if !holds { throw ContractBreach(description: "\(sentence) (\(file):\(line))") }
}

/// Throws where two values differ, and says how.
func require<Value: Equatable>(
    _ found: Value, is expected: Value, line: Int = #line, file: StaticString = #fileID
) throws {
    if found != expected {
        throw ContractBreach(description: "found \(found), expected \(expected) (\(file):\(line))")
    }
}
