import Foundation

/// What `ca trust` found and did, in the file `ca-trust.json` beside the authority.
///
/// Without the file, `ca untrust` removes the certificate from every store that has it.
struct TrustRecord: Codable, Equatable {
    static let name = "ca-trust.json"

    struct Place: Codable, Hashable {
        var kind: String
        var place: String
    }

    struct Authority: Codable, Equatable {
        /// Stores that were changed, or for which a command was printed.
        var changed: Set<Place> = []
        /// Stores that had the certificate before. They are somebody else's decision.
        var foreign: Set<Place> = []
        /// The certificate as PEM: `ca untrust` needs it where ca.pem has been replaced. Nil: an older version wrote the record.
        var certificate: String?
    }

    /// By fingerprint: the record outlives the authority that it tells of.
    var authorities: [String: Authority] = [:]

    static func read(in folder: String) -> TrustRecord {
        let data = BoundedFile.contents("\(folder)/\(name)").map { Data($0) }
        return data.flatMap { try? JSONDecoder().decode(TrustRecord.self, from: $0) } ?? TrustRecord()
    }

    /// - Returns: What went wrong. The folder may be a service's, which its users only read.
    func write(in folder: String) -> String? {
        let path = "\(folder)/\(Self.name)"
        if self == TrustRecord(), access(path, F_OK) != 0 { return nil }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(self) else { return nil }
        do throws(TrustError) {
            try BoundedFile.write(Array(data) + [0x0A], to: path, mode: 0o600)
            return nil
        } catch {
            return error.message
        }
    }
}
