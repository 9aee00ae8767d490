import GRDB
import LayoverCore
package import LayoverEngine
import Logging

extension SQLiteStore {
    /// Makes a new key and seals everything with it. The store must not be open.
    ///
    /// The key file holds the old and the new key until the last row is sealed with the new one, and every row says
    /// which key it is sealed with. So it may break off anywhere: the store opens all the same, and the next rotation
    /// finishes the work.
    ///
    /// - Returns: How many requests and responses were sealed anew.
    @discardableResult
    package static func rotateKey(options: StoreOptions) throws(StoreFailure) -> Int {
        try rotateKey(options: options) { _ in }
    }

    /// - Parameter passed: Called at each point at which it may be interrupted; an error that it throws interrupts it.
    static func rotateKey(
        options: StoreOptions, passed: (KeyRotation.Point) throws -> Void
    ) throws(StoreFailure) -> Int {
        let lock = try StoreLock(besides: options.path)
        defer { lock.release() }
        try StoreInspection.inspect(options.path)
        guard try StoreFile.head(of: options.path, byteCount: 1) != nil else {
            throw StoreFailure(.other, "\(options.path) does not exist, so there is no key to replace.")
        }
        if let neighbour = try KeySharing.neighbour(of: options.path) {
            throw StoreFailure(
                .other,
                """
                \(neighbour) may be encrypted with the same key (\(options.keyFile)) and could then not be opened. Move it to a \
                folder of its own first, with a copy of the key file.
                """)
        }
        do {
            let pool = try StoreConnections.open(options.path)
            defer { try? pool.close() }
            try StoreSchema.migrator().migrate(pool)
            let count = try KeyRotation(options: options, pool: pool).run(passed)
            options.logger.notice("store key replaced", metadata: ["count": "\(count)"])
            return count
        } catch let failure as StoreFailure {
            throw failure
        } catch {
            throw StoreInspection.failure(of: error, path: options.path)
        }
    }
}
