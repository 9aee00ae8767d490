import Foundation
import LayoverCore
import LayoverEngine
import NIOCore

/// Where one check works: a folder, and the way to open its store.
struct ContractRoom {
    let folder: String
    let open: PendingStoreContract.Opening

    /// Runs on a store, and closes it.
    @discardableResult
    func withStore<Value>(_ body: (any PendingStore) async throws -> Value) async throws -> Value {
        let store = try await open(folder)
        do {
            let value = try await body(store)
            await store.close()
            return value
        } catch {
            await store.close()
            throw error
        }
    }

    func makeFile(_ name: String, _ bytes: [UInt8] = [1, 2, 3]) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: "\(folder)/spool/\(name)"))
    }

    func hasFile(_ name: String) -> Bool {
        FileManager.default.fileExists(atPath: "\(folder)/spool/\(name)")
    }
}

extension PendingStore {
    func live() throws -> [TicketRecord] {
        var records: [TicketRecord] = []
        try readLive { records += $0 }
        return records
    }

    /// One change by itself.
    func apply(_ change: StoreChange) async throws -> StoreResult? { try await commit([change]).first }
}
