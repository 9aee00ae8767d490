import Glibc
import LayoverEngine
import LayoverText

/// An instance. One that shares its tickets with nobody is a fleet of one: it has no partitions and no lease, and lags behind nobody.
package struct FleetDocument: Codable, Sendable {
    /// Another one in each run.
    private static let ownID = {
        var generator = SystemRandomNumberGenerator()
        return Hexadecimal.text(generator.next() as UInt64) + Hexadecimal.text(generator.next() as UInt64)
    }()

    package var id: String
    /// The name of its machine.
    package var name: String
    package var version: String
    /// `active` or `draining`.
    package var state: String
    package var partitions: [Int]
    @OrNull package var leaseAge: Double?
    package var lag: Double
    /// Clients that wait on their connections.
    package var heldClients: Int

    init(_ status: EngineStatus, isDraining: Bool) {
        id = Self.ownID
        name = Self.hostName
        version = LayoverVersion.current
        state = isDraining ? "draining" : "active"
        partitions = []
        _leaseAge = OrNull(wrappedValue: nil)
        lag = 0
        heldClients = status.heldCount
    }

    private static var hostName: String {
        var name = [CChar](repeating: 0, count: Int(HOST_NAME_MAX) + 1)
        guard gethostname(&name, name.count - 1) == 0 else { return "localhost" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
