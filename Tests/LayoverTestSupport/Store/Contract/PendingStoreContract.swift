import Foundation
package import LayoverEngine

/// The contract of every store. Tests run each check over each kind of store.
package enum PendingStoreContract {
    /// Opens the store of a folder, which is new or was closed. Bodies lie in its folder `spool`.
    package typealias Opening = @Sendable (_ folder: String) async throws -> any PendingStore

    /// One thing that has to hold.
    package struct Check: Sendable, CustomStringConvertible {
        package var name: String
        var body: @Sendable (ContractRoom) async throws -> Void

        package var description: String { name }

        /// Throws a `ContractBreach` if it does not hold.
        ///
        /// - Parameter folder: Empty, and nobody else's.
        package func run(in folder: String, open: @escaping Opening) async throws {
            try FileManager.default.createDirectory(atPath: folder + "/spool", withIntermediateDirectories: true)
            try await body(ContractRoom(folder: folder, open: open))
        }
    }

    package static let checks: [Check] = acceptance + changes + bodies + history + lists + order
}
